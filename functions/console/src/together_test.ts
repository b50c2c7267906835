import assert from "node:assert/strict";
import { test } from "node:test";
import { together } from "./together";

const sleep = (ms: number): Promise<void> => new Promise(done => setTimeout(done, ms));

type Soon = (gap?: number) => void;

/** begun returns when readings of 200 ms began while act asked for them, in milliseconds, and how many overlapped. */
async function begun(act: (soon: Soon) => Promise<void>): Promise<{ starts: number[]; most: number }> {
  const origin = Date.now();
  const starts: number[] = [];
  let open = 0;
  let most = 0;
  const { soon } = together(async () => {
    starts.push(Date.now() - origin);
    most = Math.max(most, ++open);
    await sleep(200);
    open--;
    throw new Error("a broken reading ends, too");
  });
  await act(soon);
  await sleep(600);
  return { starts, most };
}

test("parts that ask at about the same time share a reading", async () => {
  const { starts } = await begun(async soon => {
    soon();
    soon();
    await sleep(10);
    soon();
  });
  assert.equal(starts.length, 1);
});

test("a reading that is asked for during another one begins after it", async () => {
  const { starts, most } = await begun(async soon => {
    soon();
    await sleep(120);
    soon();
    soon();
  });
  assert.equal(starts.length, 2);
  assert.equal(most, 1);
});

test("a gap delays a reading", async () => {
  const { starts } = await begun(async soon => {
    soon();
    await sleep(300);
    soon(500);
    soon(500);
  });
  assert.equal(starts.length, 2);
  assert.ok(starts[1]! - starts[0]! >= 490);
});

test("a reading without a gap also serves those that would wait", async () => {
  const { starts } = await begun(async soon => {
    soon();
    await sleep(300);
    soon(700);
    soon();
  });
  assert.equal(starts.length, 2);
  assert.ok(starts[1]! - starts[0]! < 600);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { linesOf } from "./lines";
import { declare, inline, isPacked, packed } from "./upload";

const pack = async (text: string): Promise<Blob> =>
  new Response(new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"))).blob();

test("a file is declared with its size and digest", async () => {
  const told: number[] = [];
  const declared = await declare(new File(["abc"], "run.txt"), share => told.push(share));
  assert.deepEqual(declared, {
    name: "run.txt",
    size: 3,
    sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
  });
  assert.deepEqual(told, [0, 1]);
});

test("a file larger than a chunk has one digest", async () => {
  const told: number[] = [];
  const half = new Uint8Array(4 << 20);
  const { sha256 } = await declare(new File([half, half], "zeros"), share => told.push(share));
  assert.equal(sha256, "2daeb1f36095b44b318410b3f4e8b5d989dcc7bb023d1426c492dab0a3053e74");
  assert.deepEqual(told, [0, 0.5, 1]);
});

test("reading ends when the upload is stopped", async () => {
  const stop = new AbortController();
  stop.abort();
  await assert.rejects(
    declare(new File(["abc"], "run.txt"), () => {}, stop.signal),
    /stopped/,
  );
});

test("content is sent in base64, whatever its size", async () => {
  const bytes = Uint8Array.from({ length: 0x8000 + 5 }, (_, i) => i % 256);
  const decoded = Uint8Array.from(atob(await inline(new Blob([bytes]))), c => c.charCodeAt(0));
  assert.deepEqual(decoded, bytes);
});

test("a file is packed once", async () => {
  const gzip = await pack("a b c\n");
  assert.equal(await isPacked(gzip), true);
  assert.equal(await isPacked(new Blob(["a b c\n"])), false);
  assert.equal(await isPacked(new Blob([])), false);
  assert.equal(await packed(new File([gzip], "a.gz"), 1000), await inline(gzip));
  assert.equal(await packed(new File(["a b c\n"], "a"), 1000), await inline(gzip));
  assert.equal(await packed(new File(["a b c\n"], "a"), 10), undefined);
});

test("lines are found in plain and in packed files", async () => {
  const text = `first\nsecond\n${"x".repeat(400)}\nlast`;
  const lines = new Map([
    [2, "second"],
    [3, "x".repeat(300)],
    [4, "last"],
  ]);
  assert.deepEqual(await linesOf(new Blob([text]), [4, 2, 3, 9]), lines);
  assert.deepEqual(await linesOf(await pack(text), [2]), new Map([[2, "second"]]));
  assert.deepEqual(await linesOf(new Blob([text]), []), new Map());
});

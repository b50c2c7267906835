import assert from "node:assert/strict";
import { test } from "node:test";
import { endsRestoring, lostWith, lostWithAccount, unmarkedAfter, unmarkedBefore } from "./deletion_words";

test("the question before an organizer is deleted names the deleted tasks that go with it", () => {
  assert.equal(lostWith([]), "");
  assert.match(lostWith(["Lakes"]), /^The deleted task “Lakes” goes with it: it can then no longer be restored/);
  assert.match(lostWith(["Lakes", "Rivers"]), /^The deleted tasks “Lakes”, “Rivers” go with it/);
});

test("who deletes an account is told that published runs stay, also if they failed later", () => {
  assert.match(
    lostWithAccount,
    /completed and whose review is published stay under an alias, also if they failed later/,
  );
});

test("a close within the time that the trash keeps a run ends its restoring", () => {
  const now = Date.parse("2026-11-30T12:00:00Z");
  assert.equal(endsRestoring("2026-12-01T12:00:00Z", now), true);
  assert.equal(endsRestoring("2026-12-31T12:00:00Z", now), false);
  assert.equal(endsRestoring(undefined, now), false);
});

test("the trash says before and after restoring which runs are not final any more", () => {
  assert.equal(unmarkedBefore(0) + unmarkedAfter(0), "");
  assert.match(unmarkedBefore(1), /^If it is restored now, 1 run of it is not final any more/);
  assert.match(unmarkedAfter(2), /^2 runs of it are not final any more/);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { lostWith, lostWithAccount } from "./deletion_words";

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

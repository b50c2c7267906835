import assert from "node:assert/strict";
import { test } from "node:test";
import { happened } from "./todo_words";

test("an entry of the inbox says whether an old run was evaluated again", () => {
  const since = new Date(Date.now() - 3 * 3600 * 1000).toISOString();
  assert.equal(happened({ kind: "run.unreviewed", since }), "evaluated 3 hours ago");
  assert.equal(happened({ kind: "run.unreviewed", since, again: true }), "evaluated again 3 hours ago");
  assert.equal(happened({ kind: "run.failed", since }), "failed 3 hours ago");
  assert.equal(happened({ kind: "run.failed", since, again: true }), "failed when it was evaluated again, 3 hours ago");
  assert.equal(happened({ kind: "workers.missing", since }), "began to wait 3 hours ago");
  assert.equal(happened({ kind: "registration.pending", since }), "registered 3 hours ago");
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { blindedNote, leftOf, limitsOf, takes, windowOf } from "./quota_words";

const quota = { datasetId: "d", startsBlinded: false, open: true };
const at = "2026-12-01T00:00:00.000Z";

test("what is left is the number that binds, with the instant of the next run", () => {
  assert.deepEqual(leftOf({}), { said: "no limit", next: undefined });
  assert.deepEqual(leftOf({ left: 2, nextAt: at }), { said: "2 runs left", next: at });
  assert.deepEqual(leftOf({ left: 0, nextAt: at }), { said: "no run is left", next: at });
  assert.equal(limitsOf({ perDay: 3, total: 50 }), "3 in 24 hours, 50 in all");
  assert.equal(limitsOf({}), "");
});

test("a dataset says whether and until when it takes runs", () => {
  assert.deepEqual(windowOf(quota), { said: "takes runs", at: undefined });
  assert.deepEqual(windowOf({ ...quota, closesAt: at }), { said: "takes runs until", at });
  assert.deepEqual(windowOf({ ...quota, open: false, closedReason: "late", closesAt: at }), { said: "closed", at });
  assert.deepEqual(windowOf({ ...quota, open: false, closedReason: "early", opensAt: at }), { said: "opens", at });
  assert.equal(windowOf({ ...quota, open: false, closedReason: "truth", closesAt: at }).at, undefined);
});

test("a file is asked for only where a run can be submitted", () => {
  assert.equal(takes({ ...quota, left: 1 }), true);
  assert.equal(takes({ ...quota, left: 0 }), false);
  assert.equal(takes({ ...quota, open: false }), false);
});

test("it is said before that scores are not shown at once", () => {
  assert.match(blindedNote({ split: "test" }), /start blinded/);
  assert.match(blindedNote({ split: "validation", scores: "afterClose" }), /window of the last team/);
  assert.equal(blindedNote({ split: "validation", scores: "live" }), "");
});

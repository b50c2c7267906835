import assert from "node:assert/strict";
import { test } from "node:test";
import { changesBack, chunks } from "./review_changes";

const reviewedAt = "2026-05-01T12:00:00Z";
const before = [
  { runId: "1", published: true, blinded: false, reviewedAt },
  { runId: "2", published: false, blinded: true },
  { runId: "3", published: true, blinded: false, reviewedAt },
  { runId: "4", published: true, blinded: false },
];

test("reviews that said the same return to it in one change", () => {
  assert.deepEqual(changesBack(before), [
    { change: { published: true, blinded: false, waits: false }, runIds: ["1", "3"] },
    { change: { published: false, blinded: true, waits: true }, runIds: ["2"] },
    { change: { published: true, blinded: false, waits: true }, runIds: ["4"] },
  ]);
});

test("runs of a list that waits do so again, reviewed or not", () => {
  assert.deepEqual(changesBack(before, true), [
    { change: { published: true, blinded: false, waits: true }, runIds: ["1", "3", "4"] },
    { change: { published: false, blinded: true, waits: true }, runIds: ["2"] },
  ]);
});

test("chunks have all items in their order", () => {
  assert.deepEqual(chunks([], 2), []);
  assert.deepEqual(chunks([1, 2], 2), [[1, 2]]);
  assert.deepEqual(chunks([1, 2, 3], 2), [[1, 2], [3]]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Rule } from "./column_rules";
import {
  changes,
  changesBack,
  chunks,
  commentHint,
  concluded,
  mayChange,
  publishedHint,
  withholds,
} from "./review_changes";
import { moment } from "./ui/time";

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

test("a change is sent only for reviews that it changes", () => {
  const [published, blinded] = before as [(typeof before)[0], (typeof before)[0]];
  assert.equal(changes(published, { published: true }), false);
  assert.equal(changes(published, { published: true, blinded: true }), true);
  assert.equal(changes(blinded, { published: false, blinded: true }), false);
  assert.equal(changes(blinded, { waits: false }), true);
  assert.equal(changes(published, { waits: false }), false);
});

test("a change is offered unless the evaluation tells that the review has its values", () => {
  assert.equal(mayChange(undefined, { published: false }), true);
  assert.equal(mayChange({ published: true }, { blinded: false, published: true }), false);
  assert.equal(mayChange({ hidden: "columns", published: true }, { published: true }), false);
  assert.equal(mayChange({ hidden: "unpublished" }, { published: false }), false);
  assert.equal(mayChange({ hidden: "unpublished" }, { blinded: false, published: true }), true);
  assert.equal(mayChange({ hidden: "blinded", published: true }, { published: false }), true);
  assert.equal(mayChange({ hidden: "blinded" }, { published: false }), false);
});

test("only changed runs are said to have changed", () => {
  const words = { became: "unblinded", was: "not blinded" };
  assert.equal(concluded(2, 0, words), "2 runs are unblinded.");
  assert.equal(concluded(1, 5, words), "1 run is unblinded. 5 runs were not blinded before.");
  assert.equal(concluded(0, 1, words), "Nothing was changed. 1 run was not blinded before.");
  assert.equal(concluded(0, 0, words), "Nothing was changed.");
});

test("the hint of Published says who sees the scores with the flags as they are", () => {
  const run = { state: "completed", evaluationId: "e", registrationId: "r" } as const;
  const live = { columns: [{ key: "AP" }] };
  const closes = { columns: [{ key: "AP", from: "close" }], withheld: true };
  const of = (published: boolean, dataset: Parameters<typeof publishedHint>[2] = live, blinded = false): string =>
    publishedHint(run, { published, blinded }, dataset);
  assert.equal(of(false), "Only the team and the organizers see the scores, until you tick this.");
  assert.equal(of(true), "Everyone who sees the task sees the scores.");
  assert.match(of(false, closes), /only the organizers see the scores, and the team after the window/);
  assert.match(of(true, closes), /^Everyone who sees the task sees the scores after the window/);
  assert.match(of(true, live, true), /^The run is blinded/);
  const waits = publishedHint({ state: "queued", registrationId: "r" }, { published: true }, live);
  assert.equal(waits, "Everyone who sees the task sees the scores. The run has no scores before it is completed.");
  const cancelled = publishedHint({ state: "cancelled", registrationId: "r" }, { published: true }, live);
  assert.equal(cancelled, "The run was cancelled: it has no scores.");
});

test("the hint of Published says who sees the columns of the dataset", () => {
  const run = { state: "completed", evaluationId: "e", registrationId: "r" } as const;
  const of = (published: boolean, ...columns: Rule[]): string =>
    publishedHint(run, { published }, { columns: columns.map((c, i) => ({ key: `P@${i}`, ...c })) });
  const later = "2126-06-01T12:00:00Z";
  for (const published of [true, false])
    assert.equal(of(published, { audience: "organizers" }), "Only the organizers see the scores, published or not.");
  assert.equal(of(true, { audience: "team" }), "Only the team and the organizers see the scores, published or not.");
  assert.equal(
    of(false, { audience: "team", from: later }),
    `Only the team and the organizers see the scores, published or not: the team from ${moment(later)} on.`,
  );
  assert.match(of(false, { audience: "team", from: "publication" }), /until you tick this\. Then the team does/);
  assert.equal(of(true, { audience: "team", from: "publication" }), "Only the team and the organizers see the scores.");
  assert.equal(of(false, { from: "publication" }), "Only the organizers see the scores, until you tick this.");
  assert.equal(of(true, { from: "publication" }), "Everyone who sees the task sees the scores.");
  assert.match(
    of(false, { from: later }),
    /^Until you tick this, only the organizers .* and the team from .*2126.* on\.$/,
  );
  assert.equal(of(true, {}, { from: "close" }), "Everyone who sees the task sees some of the scores.");
  assert.equal(
    of(false, { audience: "team" }, { from: "close" }),
    "Only the team and the organizers see some of the scores, until you tick this. " +
      "Then others see some of the scores after the window of the last team has closed.",
  );
});

test("only the comment on the run of a team is for a team, which reads it once the run has ended", () => {
  assert.match(commentHint({ state: "completed" }, false), /^The team reads it on the page of the run, also/);
  assert.match(commentHint({ state: "queued" }, false), /once the run has ended/);
  assert.doesNotMatch(commentHint({ state: "completed" }, true), /team/);
});

test("a dataset withholds scores that only organizers see although the run is not blinded", () => {
  assert.equal(withholds({ blinded: false, audience: "organizers" }), true);
  assert.equal(withholds({ blinded: true, audience: "organizers" }), false);
  assert.equal(withholds({ blinded: false, audience: "team" }), false);
  assert.equal(withholds({ blinded: false }), false);
});

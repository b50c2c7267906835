import assert from "node:assert/strict";
import { test } from "node:test";
import { againstNote, keptBecause, nextRead, publishedBy } from "./run_rules";

test("a team deletes a run until its review is published, or the final choice is over", () => {
  assert.equal(keptBecause({ published: false, finalsClosed: false }), "");
  assert.match(keptBecause({ published: true, finalsClosed: false }) ?? "", /published/);
  assert.match(keptBecause({ published: false, finalsClosed: true }) ?? "", /has closed/);
  assert.equal(keptBecause({ published: undefined, finalsClosed: false }), undefined);
});

test("an evaluation tells whether the review is published", () => {
  const completed = { state: "completed" as const };
  assert.equal(publishedBy(completed, {}), true);
  assert.equal(publishedBy(completed, { hidden: "afterClose" }), true);
  assert.equal(publishedBy(completed, { hidden: "unpublished" }), false);
  assert.equal(publishedBy(completed, { hidden: "blinded" }), undefined);
  assert.equal(publishedBy(completed, undefined), undefined);
  assert.equal(publishedBy({ state: "failed" }, undefined), false);
});

test("an open run without scores is read again at the close of a dataset that shows scores after it", () => {
  const at = "2026-12-01T00:00:00.000Z";
  const read = (before: number, more: Partial<Parameters<typeof nextRead>[0]> = {}): number =>
    nextRead({ state: "completed", ...more }, "afterClose", at, Date.parse(at) - before);
  assert.equal(read(10_000), 12_000);
  assert.equal(read(3_600_000), 60_000);
  assert.equal(read(-10_000), 60_000);
  assert.equal(read(10_000, { evaluationId: "1" }), 0);
  assert.equal(read(10_000, { state: "failed" }), 0);
  assert.equal(nextRead({ state: "completed" }, "live", at), 0);
});

test("values against an earlier version, or of a run that has failed since, say so", () => {
  const note = (state: "completed" | "failed", version: number) =>
    againstNote({ state }, { truthVersion: version }, { truthVersion: 2 });
  assert.equal(note("completed", 2), "");
  assert.match(note("completed", 1), /against version 1 of .* has not been evaluated against version 2 yet/);
  assert.match(
    note("failed", 1),
    /against version 1 of .* failed when it was evaluated against version 2: leaderboards/,
  );
  assert.match(note("failed", 2), /against version 2 of .* failed when it was evaluated again: leaderboards/);
});

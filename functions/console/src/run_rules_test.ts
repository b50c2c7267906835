import assert from "node:assert/strict";
import { test } from "node:test";
import { keptBecause, publishedBy } from "./run_rules";

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

import assert from "node:assert/strict";
import { test } from "node:test";
import { changesNote, markOf, nextLook } from "./board_reason";

test("a board that waits for the close of its dataset is read again then, and each minute", () => {
  const now = Date.parse("2026-12-01T00:00:00.000Z");
  const until = (seconds: number) => ({ entries: [], empty: { until: new Date(now + seconds * 1000).toISOString() } });
  assert.equal(nextLook(until(30), "afterClose", now), 32_000);
  assert.equal(nextLook(until(3600), "afterClose", now), 60_000);
  assert.equal(nextLook(until(-1), "afterClose", now), 1000);
  assert.equal(nextLook({ entries: [] }, "afterClose", now), 60_000);
  assert.equal(nextLook({ entries: [{ hidden: "afterClose" }] }, "afterClose", now), 60_000);
  assert.equal(nextLook({ entries: [{ hidden: "blinded" }, {}] }, "afterClose", now), 0);
  assert.equal(nextLook({ entries: [] }, "live", now), 0);
});

test("the mark of a blinded entry says whether it is published", () => {
  assert.equal(markOf({ published: true }), "");
  assert.equal(markOf({ hidden: "unpublished" }), "not published");
  assert.equal(markOf({ hidden: "blinded" }), "blinded");
  assert.equal(markOf({ hidden: "blinded", published: true }), "published, blinded");
});

test("a board without changes of rank says so", () => {
  const change = (difference: number, absent = false) => ({ change: { difference, absent } });
  assert.equal(changesNote({ entries: [{}] }), "");
  assert.equal(changesNote({ against: 1, entries: [change(0), {}] }), "No rank here has changed since version 1.");
  for (const changed of [change(1), change(0, true)])
    assert.equal(changesNote({ against: 1, entries: [changed] }), "Changes of rank are from version 1.");
});

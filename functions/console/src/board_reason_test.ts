import assert from "node:assert/strict";
import { test } from "node:test";
import { emptyBoard, nextLook } from "./board_reason";

test("an empty board says why it is empty", () => {
  assert.match(emptyBoard({ reason: "results" }, false), /No run on this dataset has a result yet/);
  assert.match(
    emptyBoard({ reason: "afterClose" }, false),
    /before the window of the last team has closed.*published and not blinded/,
  );
  assert.match(emptyBoard({ reason: "blinded" }, false), /start blinded/);
  assert.match(emptyBoard({ reason: "unpublished" }, false), /once the organizers have published them/);
  assert.match(
    emptyBoard({ reason: "results" }, false, "live", 2),
    /has a result against version 2 of the ground truth and evaluator/,
  );
  assert.match(emptyBoard({ reason: "unpublished" }, true), /^No run that is marked as final is here/);
});

test("a dataset that withholds scores says so beside an empty board", () => {
  assert.match(emptyBoard({ reason: "blinded" }, false, "afterClose"), /and the window of the last team has closed/);
  assert.match(
    emptyBoard({ reason: "unpublished" }, false, "afterClose"),
    /and the window of the last team has closed/,
  );
});

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

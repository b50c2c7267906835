import assert from "node:assert/strict";
import { test } from "node:test";
import { ago, fromLocal, moment, toLocal, universal, zone } from "./time";

// The Go test runs these tests in English, in the zone of New York.
const now = Date.parse("2026-05-01T12:00:00Z");

test("distances have their largest unit", () => {
  assert.equal(ago("2026-05-04T12:00:00Z", now), "in 3 days");
  assert.equal(ago("2026-05-02T11:59:59Z", now), "in 23 hours");
  assert.equal(ago("2026-05-01T11:58:01Z", now), "1 minute ago");
  assert.equal(ago("2026-05-01T11:59:50Z", now), "10 seconds ago");
  assert.equal(ago("2026-05-01T12:00:00Z", now), "now");
});

test("days are counted on the calendar of the reader", () => {
  const evening = Date.parse("2026-11-30T00:54:00Z"); // November 29, 7:54 PM in New York
  assert.equal(ago("2026-12-01T20:00:00Z", evening), "in 2 days"); // December 1, 43 hours later
  assert.equal(ago("2026-12-01T04:59:59Z", evening), "tomorrow"); // the last second of November 30
  assert.equal(ago("2026-12-30T00:53:07Z", evening), "in 30 days"); // 53 seconds less than 30 times 24 hours
  assert.equal(ago("2026-11-28T12:00:00Z", evening), "yesterday");
  assert.equal(ago("2026-11-28T04:59:59Z", evening), "2 days ago"); // 44 hours before, on November 27
});

test("a day of 23 hours is a day", () => {
  const saturday = Date.parse("2026-03-07T17:00:00Z"); // noon of the day before the clocks go forward
  assert.equal(ago("2026-03-09T16:00:00Z", saturday), "in 2 days"); // noon, 47 hours later
});

test("instants have seconds unless these are 0, and are never rounded up", () => {
  assert.equal(moment("2026-07-01T12:30:00.999Z"), "Jul 1, 2026, 8:30 AM");
  assert.equal(moment("2026-07-01T12:30:35.999Z"), "Jul 1, 2026, 8:30:35 AM");
  assert.equal(universal("2099-07-01T11:59:59Z"), "Jul 1, 2099, 11:59:59 AM UTC");
});

test("a field has the time of the reader's zone, summer or winter", () => {
  assert.equal(zone, "America/New_York");
  assert.equal(toLocal("2026-07-01T12:00:00Z"), "2026-07-01T08:00");
  assert.equal(toLocal("2026-01-01T03:00:00Z"), "2025-12-31T22:00");
  assert.equal(toLocal("2026-07-01T11:59:59Z"), "2026-07-01T07:59:59");
  assert.equal(fromLocal("2026-07-01T07:59:59"), "2026-07-01T11:59:59.000Z");
  assert.equal(fromLocal("2026-07-01T08:00"), "2026-07-01T12:00:00.000Z");
  assert.equal(toLocal(null), "");
  assert.equal(fromLocal(""), undefined);
});

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

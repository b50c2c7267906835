import assert from "node:assert/strict";
import { test } from "node:test";
import { notNow, registrationOf } from "./registration_words";

const now = Date.parse("2026-11-30T12:00:00Z");
const before = "2026-11-30T11:59:00.000Z";
const after = "2026-11-30T12:59:00.000Z";
const later = "2026-12-30T12:59:00.000Z";

test("a registration says whether it was, is or will be open", () => {
  assert.deepEqual(registrationOf(undefined, now), [{ said: "Open: you take part at once" }]);
  assert.deepEqual(registrationOf({ mode: "approval", opensAt: before, closesAt: after }, now), [
    { said: "Open: organizers accept teams" },
    { said: ", until", at: after },
  ]);
  assert.deepEqual(registrationOf({ mode: "open", closesAt: before }, now), [
    { said: "Took registrations until", at: before },
  ]);
  assert.deepEqual(registrationOf({ mode: "open", opensAt: after, closesAt: later }, now), [
    { said: "Opens", at: after },
    { said: ", closes", at: later },
    { said: ". Then you take part at once" },
  ]);
  assert.deepEqual(registrationOf({ mode: "closed", closesAt: before }, now), [
    { said: "By invitation of the organizers" },
  ]);
});

test("a registration that is not open names its instant", () => {
  assert.deepEqual(notNow({ mode: "open", opensAt: after }, false, now)[0], {
    said: "The task takes registrations from",
    at: after,
  });
  assert.deepEqual(notNow({ mode: "approval", closesAt: before }, false, now)[0], {
    said: "The task took registrations until",
    at: before,
  });
});

test("after the close of the task, only the organizers are said to invite", () => {
  const said = (past: boolean): string => notNow({ mode: "open", closesAt: before }, past, now)[1]!.said;
  assert.match(said(false), /the owner of a team/);
  assert.doesNotMatch(said(true), /the owner of a team/);
});

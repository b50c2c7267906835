import assert from "node:assert/strict";
import { test } from "node:test";
import { changesIn, changesOf } from "./audit_changes";
import { moment } from "./ui/time";

test("a change names its members, and their values before and after", () => {
  const before = { published: false, blinded: true, comment: "", noErrors: false };
  const after = { published: true, blinded: false, comment: "Nice", noErrors: false };
  assert.deepEqual(changesOf(before, after), [
    { name: "published", from: "no", to: "yes" },
    { name: "blinded", from: "yes", to: "no" },
    { name: "comment", from: "nothing", to: "Nice" },
  ]);
  assert.deepEqual(changesOf({ state: "accepted" }, { state: "rejected" }), [
    { name: "state", from: "accepted", to: "rejected" },
  ]);
});

test("members of members, instants and lists have words", () => {
  const at = "2026-12-01T00:00:00.000Z";
  const of = (perDay: number, closesAt?: string) => ({ submissions: { perDay, closesAt, types: ["upload", "image"] } });
  assert.deepEqual(changesOf(of(0), of(3, at)), [
    { name: "submissions, per day", from: "nothing", to: "3" },
    { name: "submissions, closes at", from: "nothing", to: moment(at) },
  ]);
  const file = { name: "q.qrels", sha256: "00ff" };
  assert.deepEqual(changesOf(undefined, { truths: [file], perDay: 2 }), [
    { name: "truths", to: "q.qrels" },
    { name: "per day", to: "2" },
  ]);
  assert.deepEqual(changesOf({ title: "A" }, undefined), [{ name: "title", from: "A" }]);
});

test("members who join and members who leave are told apart", () => {
  const users = [{ id: "a", name: "Ada" }];
  assert.deepEqual(changesIn({ action: "members.changed", before: [], after: ["a"], users }), [
    { name: "joined", to: "Ada" },
  ]);
  assert.deepEqual(changesIn({ action: "members.changed", before: ["a"], after: [], users }), [
    { name: "left", to: "Ada" },
  ]);
  assert.deepEqual(changesIn({ action: "owners.changed", before: ["a"], after: ["b"], users }), [
    { name: "no longer owners", to: "Ada" },
    { name: "new owners", to: "User …b" },
  ]);
});

test("values of choices have the labels of the form", () => {
  assert.deepEqual(changesOf({ registration: { mode: "open" } }, { registration: { mode: "approval" } }), [
    { name: "registration, mode", from: "Everyone, at once", to: "Those whom an organizer accepts" },
  ]);
});

test("no id is shown whole", () => {
  const [change] = changesOf(undefined, ["01JZ3V7Q0D8T5RZ0S6R1W9C4XK"]);
  assert.deepEqual(change, { name: "users", to: "…W9C4XK" });
});

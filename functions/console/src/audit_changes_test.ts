import assert from "node:assert/strict";
import { test } from "node:test";
import { changesIn, type Entry, headingOf } from "./audit_changes";
import { moment } from "./ui/time";

const entry = (action: Entry["action"], before?: unknown, after?: unknown, more: Partial<Entry> = {}): Entry => ({
  action,
  subject: "/v1/runs/R/review",
  before,
  after,
  ...more,
});

test("the heading says in which direction a run, a review and a registration changed", () => {
  const review = (blinded: boolean, published: boolean) => ({ blinded, published });
  for (const [e, want] of [
    [entry("review.updated", review(true, false), review(false, true)), "Run unblinded and published"],
    [entry("review.updated", review(false, true), review(false, false)), "Run no longer published"],
    [entry("review.updated", { comment: "" }, { comment: "Nice" }), "Review changed"],
    [entry("run.changed", { state: "completed" }, { state: "completed", final: true }), "Run marked as final"],
    [entry("run.changed", { final: true }, {}), "Run unmarked as final"],
    [entry("run.changed", { state: "queued" }, { state: "cancelled" }), "Run cancelled"],
    [entry("registration.decided", { state: "pending" }, { state: "rejected" }), "Team rejected"],
    [entry("deletion.undone", undefined, undefined, { subject: "/v1/tasks/T/submissions/S" }), "Submission restored"],
    [entry("deletion.undone", undefined, undefined, { subject: "/v1/tasks/T" }), "Task restored"],
  ] as const)
    assert.equal(headingOf(e), want);
  assert.deepEqual(changesIn(entry("deletion.undone", undefined, { unmarkedRunIds: ["R"] })), [
    { name: "No longer final", to: [{ kind: "runs", id: "R" }] },
  ]);
});

test("a change has the labels of its members, and their values before and after", () => {
  const before = { datasetId: "D", published: false, blinded: true, comment: "", noErrors: false };
  const after = { datasetId: "D", published: true, blinded: false, comment: "Nice", noErrors: false };
  assert.deepEqual(changesIn(entry("review.updated", before, after)), [
    { name: "Published", from: "no", to: "yes" },
    { name: "Blinded", from: "yes", to: "no" },
    { name: "Comment", from: "none", to: "Nice" },
  ]);
  assert.deepEqual(changesIn(entry("run.changed", { evaluationId: "E" }, { final: true, evaluationId: "F" })), [
    { name: "Final run", from: "no", to: "yes" },
  ]);
  assert.deepEqual(changesIn(entry("dataset.changed", { labelsPublic: false }, { labelsPublic: true })), [
    { name: "Participants may know the set of labels", from: "no", to: "yes" },
  ]);
});

test("members of members, instants, lists and missing values have words", () => {
  const at = "2026-12-01T00:00:00.000Z";
  const of = (perDay: number, types: string[], closesAt?: string) => ({ submissions: { perDay, closesAt, types } });
  assert.deepEqual(changesIn(entry("task.rules-changed", of(0, []), of(3, ["upload", "image"], at))), [
    { name: "Runs of a team in 24 hours", from: "no limit", to: "3" },
    { name: "Submissions close", from: "none", to: moment(at) },
    { name: "What teams submit", from: "everything", to: "files, container images" },
  ]);
  assert.deepEqual(changesIn(entry("submission.created", undefined, { title: "A", baseline: false, runIds: ["R"] })), [
    { name: "Title", to: "A" },
  ]);
  assert.deepEqual(changesIn(entry("submission.deleted", { title: "A", paperUrl: "" })), [
    { name: "Title", from: "A" },
  ]);
});

test("files of the ground truth with equal names are told apart by their content", () => {
  const of = (sha256: string) => ({ truths: [{ name: "q.qrels", sha256 }] });
  assert.deepEqual(changesIn(entry("truth.changed", of("00ff00ff00ff"), of("11ee11ee11ee"))), [
    { name: "Ground truth", from: "q.qrels (SHA-256 00ff00ff…)", to: "q.qrels (SHA-256 11ee11ee…)" },
  ]);
});

test("members who join and members who leave are told apart", () => {
  const users = [{ id: "a", name: "Ada" }];
  const of = (action: Entry["action"], before: string[], after: string[]) =>
    changesIn(entry(action, before, after, { users }));
  assert.deepEqual(of("members.changed", [], ["a"]), [{ name: "Joined", to: "Ada" }]);
  assert.deepEqual(of("members.changed", ["a"], []), [{ name: "Left", to: "Ada" }]);
  assert.deepEqual(of("owners.changed", ["a"], ["b"]), [
    { name: "No longer owners", to: "Ada" },
    { name: "New owners", to: "User …b" },
  ]);
});

test("values of choices have the labels of the form", () => {
  const of = (mode: string) => ({ registration: { mode } });
  assert.deepEqual(changesIn(entry("task.rules-changed", of("open"), of("approval"))), [
    { name: "Who can take part", from: "Everyone, at once", to: "Those whom an organizer accepts" },
  ]);
});

test("ids of datasets and runs are references, which screens name", () => {
  assert.deepEqual(changesIn(entry("exception.granted", undefined, { datasetId: "D", runId: "R", reason: "Outage" })), [
    { name: "Dataset", to: [{ kind: "datasets", id: "D" }] },
    { name: "A run that does not count in the quota", to: [{ kind: "runs", id: "R" }] },
    { name: "Reason", to: "Outage" },
  ]);
});

test("columns are in words", () => {
  const before = { columns: [{ key: "AP" }, { key: "RR" }] };
  const after = { columns: [{ key: "RR", title: "Reciprocal rank" }, { key: "AP" }] };
  assert.deepEqual(changesIn(entry("dataset.changed", before, after)), [
    { name: "How leaderboards show the measures, and to whom", from: "AP, RR", to: "RR (“Reciprocal rank”), AP" },
  ]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Schemas } from "./api";
import {
  formsOf,
  hasDeadline,
  noRunNote,
  registers,
  stagedOf,
  stageOf,
  submissionTypes,
  truthState,
  typesOf,
  typesOfAny,
  withOwnWindows,
} from "./stage";

const noon = "2026-05-01T12:00:00Z";
const now = Date.parse(noon);
const before = "2026-05-01T11:59:59Z";
const after = "2026-05-01T12:00:01Z";

test("a window opens at its first instant and ends at its last", () => {
  assert.equal(stageOf(undefined, now), "open");
  assert.equal(stageOf({}, now), "open");
  assert.equal(stageOf({ opensAt: after }, now), "upcoming");
  assert.equal(stageOf({ opensAt: noon }, now), "open");
  assert.equal(stageOf({ opensAt: before, closesAt: after }, now), "open");
  assert.equal(stageOf({ closesAt: noon }, now), "past");
  assert.equal(stageOf({ opensAt: before, closesAt: before }, now), "past");
});

const task = (t: object): Schemas["Task"] => t as Schemas["Task"];

test("a task is open while one of its datasets is", () => {
  const past = { submissions: { closesAt: before } };
  const named = (name: string, submissions?: object) => ({ name, ...(submissions && { submissions }) });
  const winter = named("Winter", { closesAt: after });
  const spring = named("Spring", { opensAt: after, closesAt: "2026-06-01T00:00:00Z" });
  assert.deepEqual(stagedOf(past, [named("Summer")], now), { stage: "past", dates: [{ name: "", at: before }] });
  assert.deepEqual(stagedOf({}, [winter], now), { stage: "open", dates: [{ name: "Winter", at: after }] });
  assert.deepEqual(stagedOf(past, [named("Summer"), winter, spring], now), {
    stage: "open",
    dates: [{ name: "Winter", at: after }],
  });
  assert.deepEqual(stagedOf(past, [spring], now), {
    stage: "upcoming",
    dates: [{ name: "Spring", at: after, until: "2026-06-01T00:00:00Z" }],
  });
  assert.deepEqual(stagedOf({}, [winter, named("Summer"), named("Autumn")], now).dates, [
    { name: "", at: undefined },
    { name: "Winter", at: after },
  ]);
  assert.deepEqual(stagedOf({}, [], now), { stage: "open", dates: [{ name: "", at: undefined }] });
  assert.equal(
    stagedOf({ submissions: { opensAt: after } }, [named("Summer", { opensAt: before })], now).stage,
    "open",
  );
});

test("a task is past once each of its datasets is, whatever its own window says", () => {
  const closed = (name: string, closesAt = before) => ({ name, submissions: { closesAt } });
  assert.deepEqual(stagedOf({}, [closed("Winter")], now), { stage: "past", dates: [{ name: "Winter", at: before }] });
  assert.equal(stagedOf({ submissions: { closesAt: after } }, [closed("Winter"), closed("Summer")], now).stage, "past");
  assert.equal(stagedOf({}, [closed("Winter"), { name: "Summer" }], now).stage, "open");
  assert.equal(stagedOf({}, [{ name: "Winter", submissions: { opensAt: after } }], now).stage, "upcoming");
});

test("a task is open to a team with a later close", () => {
  const past = { submissions: { closesAt: before } };
  const datasets = [
    { id: "W", name: "Winter" },
    { id: "S", name: "Summer", submissions: { closesAt: before, perDay: 2 } },
  ];
  const own = { datasetId: "W", open: true, closesAt: after };
  const open = { stage: "open", dates: [{ name: "Winter", at: after }] };
  assert.equal(stagedOf(past, withOwnWindows(datasets, []), now).stage, "past");
  assert.deepEqual(stagedOf(past, withOwnWindows(datasets, [own as Schemas["DatasetQuota"]]), now), open);
});

test("a task has a deadline if it closes itself, or each of its datasets does", () => {
  const closed = { submissions: { closesAt: after } };
  assert.equal(hasDeadline({}, []), false);
  assert.equal(hasDeadline(closed, []), true);
  assert.equal(hasDeadline({}, [closed]), true);
  assert.equal(hasDeadline({}, [closed, {}]), false);
});

test("teams register unless the registration is closed or outside of its window", () => {
  assert.equal(registers(task({})), true);
  assert.equal(registers(task({ registration: { mode: "approval" } })), true);
  assert.equal(registers(task({ registration: { mode: "closed" } })), false);
  assert.equal(registers(task({ registration: { mode: "open", closesAt: "2020-01-01T00:00:00Z" } })), false);
  assert.equal(registers(task({ registration: { mode: "open", opensAt: "2120-01-01T00:00:00Z" } })), false);
});

test("a task takes all types of submissions unless it names some", () => {
  const all = ["upload", "image", "repository"];
  assert.deepEqual(submissionTypes(task({})), all);
  assert.deepEqual(submissionTypes(task({ submissions: { types: [] } })), all);
  assert.deepEqual(submissionTypes(task({ submissions: { types: ["image"] } })), ["image"]);
});

test("a dataset takes repositories only if it builds them", () => {
  assert.deepEqual(typesOf(task({}), {}), ["upload", "image"]);
  assert.deepEqual(typesOf(task({}), { builds: true }), ["upload", "image", "repository"]);
  assert.deepEqual(typesOf(task({ submissions: { types: ["repository"] } }), {}), []);
  assert.equal(formsOf(typesOfAny(task({}), [{}, {}])), "files, container images");
  assert.equal(formsOf(typesOfAny(task({}), [{}, { builds: true }])), "files, container images, repositories");
  assert.deepEqual(typesOfAny(task({}), []), []);
  assert.match(formsOf([]), /^no submissions: /);
});

test("a ground truth is missing, refused, waits, or is accepted", () => {
  const truths = [{ name: "qrels.txt" }];
  const diagnostic = (severity: "error" | "warning") => ({ severity, message: "" });
  assert.equal(truthState({ truthVersion: 0 }), "missing");
  assert.equal(truthState({ truths: [], truthVersion: 1 }), "missing");
  assert.equal(truthState({ truths, truthVersion: 0 }), "waits");
  assert.equal(truthState({ truths, truthVersion: 0, diagnostics: [diagnostic("error")] }), "refused");
  assert.equal(truthState({ truths, truthVersion: 2, diagnostics: [diagnostic("warning")] }), "accepted");
});

test("a dataset without runs says whether teams can submit", () => {
  const d = { truths: [{ name: "qrels.txt" }], truthVersion: 1 };
  const closes = (closesAt: string) => ({ ...d, submissions: { closesAt } });
  assert.match(noRunNote({ truthVersion: 0 }, {}, now), /ground truth/);
  assert.match(noRunNote(closes(before), {}, now), /has closed/);
  assert.match(noRunNote({ ...d, submissions: { opensAt: after } }, {}, now), /not opened/);
  assert.match(noRunNote(d, {}, now), /Teams submit/);
});

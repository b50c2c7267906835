import assert from "node:assert/strict";
import { test } from "node:test";
import type { Schemas } from "./api";
import { headingOf, noTeam, stepsOf } from "./task_steps";

type Lists = { datasets?: object[]; runs?: object[] };

const steps = (task: object, { datasets = [], runs = [] }: Lists = {}) =>
  stepsOf(task as Schemas["Task"], datasets as Schemas["Dataset"][], runs as Schemas["Run"][]);
const heading = (task: object, lists?: Lists): string => headingOf(task as Schemas["Task"], steps(task, lists));

const task = { id: "1", visibility: "private" };
const good = { id: "2", name: "Test", truths: [{ name: "qrels" }], truthVersion: 1 };
const waiting = { id: "3", name: "Dev", truths: [{ name: "qrels" }], truthVersion: 0 };
const ready = { datasets: [good], runs: [{ state: "completed" }] };

test("a new task lacks everything", () => {
  assert.equal(heading(task), "To do");
  assert.deepEqual(
    steps(task).filter(s => s.done),
    [],
  );
  assert.equal(steps(task).find(s => s.name === "Have a baseline evaluated")?.at, "#/tasks/1/datasets/new");
});

test("a ground truth that is not accepted leads to its dataset", () => {
  const step = steps(task, { datasets: [good, waiting] }).find(s => s.name === "Store its ground truth");
  assert.deepEqual(step, {
    done: false,
    name: "Store its ground truth",
    at: "#/datasets/3/edit",
    note: "Dev is being read.",
  });
});

test("a task is ready once only its publication is left", () => {
  assert.equal(heading(task, ready), "Ready to be published");
  assert.equal(heading(task, { ...ready, runs: [{ state: "failed" }] }), "To do");
  assert.equal(heading({ ...task, visibility: "public" }, ready), "The task is published");
});

test("a deadline and terms are optional", () => {
  const optional = steps(task).filter(s => s.optional);
  assert.deepEqual(
    optional.map(s => s.name),
    ["Set a deadline", "Write terms"],
  );
  const rules = { ...task, submissions: { closesAt: "2026-05-01T12:00:00Z" }, terms: { text: "Be fair." } };
  assert.equal(steps(rules).filter(s => s.optional && s.done).length, 2);
});

test("nobody is sent to the address of a private task", () => {
  assert.match(noTeam({ visibility: "private" }), /Invite those who might/);
  assert.doesNotMatch(noTeam({ visibility: "private" }), /Send the address/);
  assert.match(noTeam({ visibility: "public" }), /Send the address/);
  assert.doesNotMatch(noTeam({ visibility: "public", registration: { mode: "closed" } }), /Send the address/);
});

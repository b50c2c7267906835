import assert from "node:assert/strict";
import { test } from "node:test";
import type { Schemas } from "../api";
import { bytes } from "./files";
import { decimals, ended, nameOf, scoreOf, teamOf } from "./run_state";

test("results have four decimals, and four digits where these say nothing", () => {
  assert.deepEqual([0.5, 1.234e-5, 1234567.8].map(decimals), ["0.5000", "0.00001234", "1.235e+6"]);
  assert.deepEqual([0, -0.25, null, undefined].map(decimals), ["0.0000", "-0.2500", "–", "–"]);
});

test("a run is called by the first name that it has", () => {
  assert.equal(nameOf({ title: "T", label: "L", runTag: "R" }), "T");
  assert.equal(nameOf({ title: "", label: "L", runTag: "R" }), "L");
  assert.equal(nameOf({ runTag: "R", runId: "1" }), "R");
  assert.equal(nameOf({ id: "01JZ3V7Q0D8T5RZ0S6R1W9C4XK" }), "Run W9C4XK");
});

test("a baseline of a team is marked", () => {
  assert.equal(teamOf({ team: "Lab", baseline: false }), "Lab");
  assert.equal(teamOf({ team: "Lab", baseline: true }), "Lab (baseline)");
  assert.equal(teamOf({ team: "baseline", baseline: true }), "baseline");
});

test("the score is that of the measure that ranks", () => {
  const evaluation = { primaryMeasure: "AP", measures: { "nDCG@10": 0.7, AP: 0.25 } };
  assert.equal(scoreOf(evaluation as unknown as Schemas["Evaluation"]), "0.2500");
});

test("three states are final", () => {
  const states = ["awaiting-upload", "queued", "running", "evaluating", "completed", "failed", "cancelled"];
  const final = states.filter(state => ended({ state } as Schemas["Run"]));
  assert.deepEqual(final, ["completed", "failed", "cancelled"]);
});

test("sizes have a unit", () => {
  const sizes = [undefined, 0, 999, 1000, 999_949, 2_500_000, 3_210_000_000];
  assert.deepEqual(sizes.map(bytes), ["", "0 B", "999 B", "1.0 kB", "999.9 kB", "2.5 MB", "3.21 GB"]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Schemas } from "../api";
import { bytes } from "./files";
import { ended, nameOf, teamOf } from "./run_state";

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

test("three states are final", () => {
  const states = ["awaiting-upload", "queued", "running", "evaluating", "completed", "failed", "cancelled"];
  const final = states.filter(state => ended({ state } as Schemas["Run"]));
  assert.deepEqual(final, ["completed", "failed", "cancelled"]);
});

test("sizes have a unit", () => {
  const sizes = [undefined, 0, 999, 1000, 999_949, 2_500_000, 3_210_000_000];
  assert.deepEqual(sizes.map(bytes), ["", "0 B", "999 B", "1.0 kB", "999.9 kB", "2.5 MB", "3.21 GB"]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { lackedChoices, withoutChoices } from "./board_choices";

test("a board drops the choices that its dataset does not have", () => {
  const query = new URLSearchParams("dataset=1&show=final&sort=P%401&against=2&view=public");
  assert.deepEqual(lackedChoices(query, { finalRuns: 1 }), []);
  assert.deepEqual(lackedChoices(query, { finalRuns: 0 }), ["show"]);
  const faults = [{ pointer: "/measure" }, { pointer: "/against" }, { pointer: "/limit" }];
  assert.deepEqual(lackedChoices(query, { finalRuns: 1 }, faults), ["sort", "against"]);
  assert.equal(`${withoutChoices(query, ["show", "sort", "against"])}`, "dataset=1&view=public");
});

test("a refusal of other members drops nothing", () => {
  const query = new URLSearchParams("show=all");
  assert.deepEqual(lackedChoices(query, {}, [{ pointer: "/measure" }, { pointer: "/datasetId" }]), []);
  assert.deepEqual(lackedChoices(new URLSearchParams("show=nothing"), {}), ["show"]);
});

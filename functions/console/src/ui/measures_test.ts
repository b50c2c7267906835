import assert from "node:assert/strict";
import { test } from "node:test";
import type { Schemas } from "../api";
import { exampleOf, familyOf } from "./measures";

const family = (name: string, cutoff: Schemas["Family"]["cutoff"], aliases?: string[]): Schemas["Family"] =>
  ({ name, cutoff, aliases, definition: "" }) as Schemas["Family"];

const families = [
  family("nDCG", "optional depth", ["ndcg_cut"]),
  family("AP", "none"),
  family("IPrec", "required recall"),
];

test("a measure belongs to the family of its name or alias, without cutoff and parameters", () => {
  const named = (measure: string): string | undefined => familyOf(families, measure)?.name;
  assert.equal(named(" nDCG@10"), "nDCG");
  assert.equal(named("ndcg_cut@5"), "nDCG");
  assert.equal(named("AP(rel=2)"), "AP");
  assert.equal(named("A"), undefined);
});

test("an example has the cutoff that the family takes", () => {
  assert.deepEqual(families.map(exampleOf), ["nDCG@10", "AP", "IPrec@0.1"]);
});

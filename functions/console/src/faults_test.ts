import assert from "node:assert/strict";
import { test } from "node:test";
import { clauseOf, faultsOf, isNote, placeOf } from "./faults";

const fault = { severity: "error", message: "" } as const;
const many = { ...fault, line: 1, lines: "1 to 4654", count: 4654 };

test("a fault is told with all its lines", () => {
  assert.equal(placeOf(many), "1 to 4654");
  assert.equal(clauseOf(many), "Lines 1 to 4654: ");
  assert.equal(placeOf({ ...fault, line: 7 }), "7");
  assert.equal(clauseOf({ ...fault, line: 7 }), "Line 7: ");
  assert.equal(placeOf({ ...fault, count: 12 }), "12 times");
  assert.equal(placeOf(fault), "–");
  assert.equal(clauseOf(fault), "");
});

test("a warning about workers is no fault of a file", () => {
  const waits = { severity: "warning", message: "No worker of the pool has been seen." } as const;
  assert.equal(isNote(waits), true);
  assert.equal(isNote({ ...waits, file: "labels.csv" }), false);
  assert.equal(isNote({ ...waits, line: 2 }), false);
  assert.equal(isNote({ ...waits, count: 3 }), false);
  assert.equal(isNote(fault), false);
});

test("faults are counted over all diagnostics", () => {
  assert.equal(faultsOf([many, fault]), 4655);
});

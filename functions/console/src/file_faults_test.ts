import assert from "node:assert/strict";
import { test } from "node:test";
import { diagnosticsOf, ofFile } from "./file_faults";

test("faults of a file keep their lines", () => {
  const faults = [
    { pointer: "/files/1", detail: "line 3: the rank is missing" },
    { pointer: "/files/1/content", detail: "the file is empty" },
    { pointer: "/files/1", detail: "lines 1 to 40: too few fields" },
    { pointer: "/files/10", detail: "line 1: another file" },
    { pointer: "/files", detail: "no file" },
  ];
  assert.deepEqual(diagnosticsOf(faults, 1), [
    { severity: "error", line: 3, message: "the rank is missing" },
    { severity: "error", message: "the file is empty" },
    { severity: "error", line: 1, lines: "1 to 40", message: "too few fields" },
  ]);
  assert.deepEqual(faults.map(ofFile), [true, true, true, true, false]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { compareNames } from "./order";

test("names are ordered as people count", () => {
  assert.deepEqual(["100", "10", "2", "1", "q10", "q2"].sort(compareNames), ["1", "2", "10", "100", "q2", "q10"]);
});

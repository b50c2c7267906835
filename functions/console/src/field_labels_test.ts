import assert from "node:assert/strict";
import { test } from "node:test";
import { splitLabels } from "./field_labels";

test("a split promises scores at once only if they do not wait for the close", () => {
  assert.match(splitLabels("live").validation!, /at once/);
  assert.match(splitLabels("afterClose").validation!, /after the close/);
  assert.match(splitLabels("afterClose").test!, /after the close/);
});

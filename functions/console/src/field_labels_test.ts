import assert from "node:assert/strict";
import { test } from "node:test";
import { splitLabels } from "./field_labels";

test("a split promises scores at once only if they wait for nothing else", () => {
  const of = (from: string) => splitLabels([{ from }]);
  assert.match(of("now").validation!, /scores at once/);
  assert.match(of("close").validation!, /after the last close/);
  assert.match(of("close").test!, /unblind their run, after the last close/);
  assert.match(of("publication").validation!, /once you publish their run/);
  assert.match(of("publication").test!, /once you unblind and publish their run$/);
  assert.match(of("2126-06-01T12:00:00Z").test!, /unblind their run, from .*2126.* on$/);
  assert.match(splitLabels([{ audience: "organizers" }]).validation!, /only organizers see scores/);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { changesNote, markOf } from "./board_reason";

test("the mark of a blinded entry says whether it is published", () => {
  assert.equal(markOf({ published: true }), "");
  assert.equal(markOf({ hidden: "unpublished" }), "not published");
  assert.equal(markOf({ hidden: "blinded" }), "blinded");
  assert.equal(markOf({ hidden: "columns", published: true }), "published, columns hidden");
  assert.equal(markOf({ hidden: "blinded", published: true }), "published, blinded");
});

test("a board says which entries its changes of rank compare, and if there are none", () => {
  const compared = "among the entries that both versions rank.";
  const change = (difference: number, absent = false) => ({ change: { difference, absent } });
  assert.equal(changesNote({ entries: [{}] }), "");
  assert.equal(
    changesNote({ against: 1, entries: [change(0), {}] }),
    `No rank here has changed since version 1, ${compared}`,
  );
  for (const changed of [change(1), change(0, true)])
    assert.equal(changesNote({ against: 1, entries: [changed] }), `Changes of rank are from version 1, ${compared}`);
});

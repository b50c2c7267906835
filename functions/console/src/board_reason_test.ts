import assert from "node:assert/strict";
import { test } from "node:test";
import { emptyBoard, hidden } from "./board_reason";

test("an empty board says why it is empty", () => {
  assert.match(emptyBoard({ reason: "results" }, false), /No run on this dataset is evaluated/);
  assert.match(emptyBoard({ reason: "afterClose" }, false), /withheld until the window/);
  assert.match(emptyBoard({ reason: "blinded" }, false), /start blinded/);
  assert.match(emptyBoard({ reason: "unpublished" }, false), /once the organizers have published them/);
  assert.match(emptyBoard({ reason: "unpublished" }, true), /^No run that is marked as final is here/);
});

test("a dataset that withholds scores says so beside an empty board and hidden runs", () => {
  assert.match(emptyBoard({ reason: "blinded" }, false, "afterClose"), /and the window of the last team has closed/);
  assert.match(
    emptyBoard({ reason: "unpublished" }, false, "afterClose"),
    /and the window of the last team has closed/,
  );
  assert.equal(hidden("organizers", "afterClose"), "only organizers see it");
  assert.equal(hidden("organizers", "live"), undefined);
});

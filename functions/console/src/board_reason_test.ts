import assert from "node:assert/strict";
import { test } from "node:test";
import { type Board, emptyBoard } from "./board_reason";

const now = Date.parse("2026-06-01T00:00:00Z");
const reader: Board = { organizer: false, publicView: false, final: false };
const of = (changes: object, board: object = {}): string =>
  emptyBoard({ split: "validation", truthVersion: 1, ...changes } as never, { ...reader, ...board }, now);

test("an empty board says why it is empty", () => {
  assert.match(of({}), /Nothing is published yet/);
  assert.match(of({ publish: "onCompletion" }), /No run is evaluated yet/);
  assert.match(of({ split: "test" }), /start blinded/);
  assert.match(of({ truthVersion: 0 }), /ground truth/);
  assert.match(of({}, { final: true }), /marked as final/);
});

test("an embargo ends with the close of the dataset or of the task", () => {
  assert.match(of({ scores: "afterClose" }), /withheld/);
  assert.match(of({ scores: "afterClose", submissions: { closesAt: "2026-07-01T00:00:00Z" } }), /withheld/);
  assert.doesNotMatch(of({ scores: "afterClose" }, { closesAt: "2026-05-01T00:00:00Z" }), /withheld/);
});

test("organizers see blinded runs, except as everyone sees the board", () => {
  assert.match(of({ split: "test", scores: "afterClose" }, { organizer: true }), /No run on this dataset/);
  assert.match(of({ split: "test" }, { organizer: true, publicView: true }), /start blinded/);
});

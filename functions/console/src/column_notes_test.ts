import assert from "node:assert/strict";
import { test } from "node:test";
import { hiddenNote, laterNote, ruleSentence } from "./column_notes";
import type { Column } from "./columns";
import { moment } from "./ui/time";

const now = Date.parse("2026-01-01T00:00:00Z");
const later = "2026-06-01T12:00:00Z";

test("organizers are told which columns others do not see now, and from when others do", () => {
  const hidden: Column[] = [
    { key: "AP", title: "Precision", from: later },
    { key: "RR", audience: "organizers" },
    { key: "P@2", audience: "team" },
  ];
  assert.equal(
    hiddenNote(hidden),
    `Others do not see these columns now: Precision (shown from ${moment(later)} on); RR (only organizers see it); ` +
      "P@2 (only the team of each run sees it).",
  );
  assert.equal(hiddenNote([]), "");
});

test("others are told which columns they see later", () => {
  const columns: Column[] = [
    { key: "AP" },
    { key: "RR", from: "close" },
    { key: "P@2", from: later },
    { key: "P@5", from: "2025-01-01T00:00:00Z" },
    { key: "P@7", audience: "team", from: "close" },
    { key: "P@9", audience: "organizers", from: "close" },
  ];
  const both = `RR after the last close; P@2 from ${moment(later)} on`;
  assert.equal(laterNote(columns, ["AP"], "everyone", now), `More columns are shown later: ${both}.`);
  assert.equal(
    laterNote(columns, ["AP"], "team", now),
    `More columns are shown later: ${both}; P@7 after the last close.`,
  );
  assert.equal(laterNote(columns, ["AP", "RR", "P@2"], "everyone", now), "");
  assert.equal(laterNote(columns, ["AP"], "organizers", now), "");
});

test("the rule of a column is a sentence of its own", () => {
  assert.equal(ruleSentence({ key: "AP" }), "");
  assert.equal(ruleSentence({ key: "AP", from: "close" }), " Shown after the last close.");
});

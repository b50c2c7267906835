import assert from "node:assert/strict";
import { test } from "node:test";
import {
  areAlike,
  commonFrom,
  conditionOf,
  firstFrom,
  firstNow,
  isWaiting,
  kindOf,
  readerOf,
  ruleInWords,
  ruleOf,
  withheldNote,
} from "./column_rules";
import { moment } from "./ui/time";

const now = Date.parse("2026-01-01T00:00:00Z");
const later = "2026-06-01T12:00:00Z";
const sooner = "2026-03-01T12:00:00Z";
const past = "2025-06-01T12:00:00Z";

test("a from is one of the constants, or an instant", () => {
  assert.deepEqual([undefined, "now", "publication", "close", later].map(kindOf), [
    "now",
    "now",
    "publication",
    "close",
    "instant",
  ]);
});

test("readers wait for the column that they see first", () => {
  assert.equal(firstFrom([{ from: "close" }, {}], "everyone", now), "now");
  assert.equal(firstFrom([{ from: "close" }, { from: past }], "everyone", now), "now");
  assert.equal(firstFrom([{ from: "close" }, { from: later }, { from: sooner }], "team", now), sooner);
  assert.equal(firstFrom([{ from: later }, { from: "publication" }], "team", now), "publication");
  assert.equal(firstFrom([{ from: "close" }, { audience: "team" }], "everyone", now), "close");
  assert.equal(firstFrom([{ from: "close" }, { audience: "team" }], "team", now), "now");
  assert.equal(firstFrom([{ from: "instant" }], "team", now), "instant");
  assert.equal(firstFrom([{ audience: "organizers" }], "team", now), "never");
  assert.equal(firstFrom([{ audience: "team" }], "everyone", now), "never");
});

test("organizers know that the last window has closed", () => {
  const columns = [{ key: "AP", from: "close" }];
  assert.equal(firstNow({ columns, withheld: true }, "everyone", now), "close");
  assert.equal(firstNow({ columns }, "everyone", now), "now");
  assert.equal(firstNow({ columns: [...columns, { key: "RR", audience: "team" }] }, "everyone", now), "close");
});

test("the columns of others have one from or differ", () => {
  assert.equal(commonFrom([{}, { audience: "team" }]), "now");
  assert.equal(commonFrom([{ from: "close" }, { audience: "organizers" }]), "close");
  assert.equal(commonFrom([{ from: "close" }, {}]), undefined);
  assert.equal(areAlike([{ from: "now", audience: "everyone" }, {}]), true);
  assert.equal(areAlike([{ audience: "team" }, {}]), false);
});

test("a new column has the rule of another without its other members", () => {
  const first = { key: "AP", title: "Precision", from: "close", audience: "team" } as const;
  assert.deepEqual(ruleOf(first), { from: "close", audience: "team" });
  assert.deepEqual(ruleOf(undefined), {});
});

test("a column waits for a close or an instant to come", () => {
  const froms = [undefined, "publication", past, "close", later];
  assert.deepEqual(
    froms.map(from => isWaiting(from ? { from } : {}, now)),
    [false, false, false, true, true],
  );
});

test("a rule in words says who sees a column, and from when", () => {
  assert.equal(ruleInWords({}), "");
  assert.equal(ruleInWords({ audience: "organizers", from: "close" }), "only organizers see it");
  assert.equal(ruleInWords({ audience: "team" }), "only the team of each run sees it");
  assert.equal(
    ruleInWords({ audience: "team", from: later }),
    `only the team of each run sees it, from ${moment(later)} on`,
  );
  assert.equal(ruleInWords({ from: "close" }), "shown after the last close");
  assert.equal(ruleInWords({ from: "publication" }), "shown once the run is published");
});

test("a condition follows the word once", () => {
  assert.deepEqual(["now", "publication", "close", later].map(conditionOf), [
    "",
    "",
    "the window of the last team has closed",
    `${moment(later)} has passed`,
  ]);
});

test("it is said when scores that are withheld are shown", () => {
  const of = (...columns: Parameters<typeof ruleOf>[0][]): string =>
    withheldNote(columns as Parameters<typeof withheldNote>[0], "Waters", now);
  assert.equal(of({ from: "close" }), "No scores on Waters are shown before the window of the last team has closed.");
  assert.equal(of({ from: later }, { from: "close" }), `No scores on Waters are shown before ${moment(later)}.`);
  assert.equal(of({ audience: "organizers" }), "Only the organizers see scores on Waters.");
  assert.equal(of({ from: "publication" }), "Scores on Waters are shown once the run is published.");
});

test("an organizer sees more than a team, and a team more than others", () => {
  assert.deepEqual(
    [readerOf(true, true), readerOf(false, true), readerOf(false, false)],
    ["organizers", "team", "everyone"],
  );
});

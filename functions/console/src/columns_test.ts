import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Column,
  cellOf,
  columnInWords,
  columnName,
  columnsIn,
  columnsOf,
  decimals,
  headingOf,
  inStep,
  moved,
  rankingKey,
  scoreName,
  scoreOf,
  withMeasure,
} from "./columns";
import { mergeChanges } from "./ui/values";

const ap: Column = { key: "AP", title: "Average precision", group: "Main", decimals: 2 };
const evaluation = { columns: ["AP", "nDCG@10"], measures: { "nDCG@10": 0.7, AP: 0.256 } } as unknown as Parameters<
  typeof scoreOf
>[0];

test("results have four decimals, and four digits where these say nothing", () => {
  assert.deepEqual([0.5, 1.234e-5, 1234567.8].map(decimals), ["0.5000", "0.00001234", "1.235e+6"]);
  assert.deepEqual([0, -0.25, null, undefined].map(decimals), ["0.0000", "-0.2500", "–", "–"]);
});

test("a column has its title and its decimals", () => {
  assert.deepEqual([ap, { key: "AP" }].map(headingOf), ["Average precision", "AP"]);
  assert.deepEqual([ap, { key: "AP" }].map(columnName), ["Main: Average precision", "AP"]);
  assert.equal(cellOf(ap, 0.256), "0.26");
  assert.equal(cellOf({ key: "AP", decimals: 0 }, 12.5001), "13");
  assert.equal(cellOf({ key: "AP" }, 0.256), "0.2560");
  assert.equal(cellOf(ap, null), "–");
});

test("the score is the value of the first column, with the dataset's decimals if it is known", () => {
  assert.equal(scoreOf(evaluation), "0.2560");
  assert.equal(scoreOf(evaluation, { columns: [{ key: "nDCG@10" }, ap] }), "0.26");
  assert.equal(scoreName(evaluation, { columns: [ap] }), "Main: Average precision");
  assert.equal(scoreOf({ ...evaluation, columns: [] }), "–");
  assert.equal(scoreName({ ...evaluation, columns: [] }), "");
});

test("an evaluation has its own order of columns", () => {
  assert.deepEqual(columnsOf(evaluation, { columns: [{ key: "nDCG@10" }, ap] }), [ap, { key: "nDCG@10" }]);
  assert.deepEqual(columnsOf(evaluation, undefined), [{ key: "AP" }, { key: "nDCG@10" }]);
});

test("columns keep their order in step with measures", () => {
  const columns = [ap, { key: "P@5" }];
  assert.deepEqual(inStep(columns, ["P@5", "AP", "RR"]), [ap, { key: "P@5" }, { key: "RR", audience: "organizers" }]);
  assert.deepEqual(inStep(columns, ["RR", "P@5"]), [{ key: "P@5" }, { key: "RR", audience: "organizers" }]);
  assert.deepEqual(inStep([{ key: "AP", title: "", decimals: 0 }], ["AP"]), [{ key: "AP", decimals: 0 }]);
  assert.deepEqual(columnsIn({ evaluator: { measures: ["AP"] } }), [{ key: "AP" }]);
});

test("a new column is seen by the readers of the first column, from the same time", () => {
  const first: Column = { key: "AP", title: "Precision", audience: "team", from: "close" };
  const added = { key: "P@5", audience: "team", from: "close" };
  assert.deepEqual(withMeasure([first, { key: "RR" }], "P@5"), [first, { key: "RR" }, added]);
  assert.deepEqual(withMeasure([{ key: "AP" }], "P@5"), [{ key: "AP" }, { key: "P@5" }]);
});

test("the first column ranks for organizers, and the first that everyone sees for others", () => {
  const columns: Column[] = [{ key: "AP", audience: "organizers" }, { key: "RR", audience: "team" }, { key: "P@5" }];
  assert.equal(rankingKey(columns, true), "AP");
  assert.equal(rankingKey(columns, false), "P@5");
  assert.equal(rankingKey(columns.slice(0, 2), false), undefined);
});

test("columns that were moved here keep up with measures that somebody else changed", () => {
  const of = (measures: string[], keys = measures) => ({
    evaluator: { measures },
    columns: keys.map(key => ({ key })),
  });
  const base = of(["AP", "RR"]);
  const mine = { ...base, columns: moved(base.columns, 1, -1) };
  const merged = mergeChanges(mine, base, of(["AP", "RR", "P@5"]));
  assert.deepEqual(Object.keys(merged.conflicts), ["columns"]);
  assert.deepEqual(
    columnsIn(merged.values).map(c => c.key),
    ["RR", "AP", "P@5"],
  );
});

test("a column moves by one place in a copy", () => {
  const columns = ["a", "b", "c"].map(key => ({ key }));
  const keys = (of: Column[]): string => of.map(c => c.key).join("");
  assert.equal(keys(moved(columns, 2, -1)), "acb");
  assert.equal(keys(moved(columns, 0, 1)), "bac");
  assert.equal(keys(columns), "abc");
});

test("a column in words says how leaderboards show it", () => {
  assert.equal(columnInWords({ key: "AP", lowerIsBetter: false }), "AP");
  assert.equal(columnInWords(ap), "AP (“Average precision”, under “Main”, 2 decimals)");
  assert.equal(columnInWords({ key: "AP", audience: "organizers" }), "AP (only organizers see it)");
  assert.equal(columnInWords({ key: "Loss", decimals: 1, lowerIsBetter: true }), "Loss (1 decimal, lower is better)");
});

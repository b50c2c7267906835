import assert from "node:assert/strict";
import { test } from "node:test";
import { begin, convertedName, type Evaluator, formatOf, formatOfName, sampleOf } from "./run_formats";

const multilabel: Evaluator = {
  kind: "multilabel",
  definition: "",
  truth: "",
  formats: ["jsonl", "csv"],
  valueField: "labels",
  defaults: ["F1", "Precision", "Recall"],
  conventions: [],
  limits: [],
};

test("a dataset begins with the first format and two measures", () => {
  assert.deepEqual(begin(multilabel), {
    runFormat: { kind: "jsonl", idField: "id", valueField: "labels", separator: undefined },
    evaluator: { kind: "multilabel", measures: ["F1", "Precision"] },
    columns: [{ key: "F1" }, { key: "Precision" }],
  });
});

test("another evaluator keeps who sees scores, and from when", () => {
  const columns = [{ key: "AP", title: "Precision", from: "close" }, { key: "F1" }];
  assert.deepEqual(begin(multilabel, columns).columns, [
    { key: "F1", from: "close" },
    { key: "Precision", from: "close" },
  ]);
});

test("another format keeps the names of fields, where it has fields", () => {
  const before = { kind: "csv", idField: "item", valueField: "tags", separator: ";" };
  const after = { kind: "jsonl", idField: "item", valueField: "tags", separator: undefined };
  assert.deepEqual(formatOf("jsonl", multilabel, before), after);
  assert.deepEqual(formatOf("trec-run", multilabel, before), { kind: "trec-run" });
});

test("the name of a file tells its format", () => {
  const named = { "a.csv": "csv", "a.TSV.gz": "csv", "a.jsonl": "jsonl", "a.json": "jsonl", "b.iob2": "conll" };
  for (const [name, format] of Object.entries(named)) assert.equal(formatOfName(name), format, name);
  assert.equal(formatOfName("qrels.txt"), undefined);
});

test("a sample has the fields of its format and a value of its evaluator", () => {
  const sample = (runFormat: object, kind: string): string =>
    sampleOf({ runFormat, evaluator: { kind, measures: [] } } as unknown as Parameters<typeof sampleOf>[0]);
  assert.equal(sample({ kind: "jsonl" }, "classification"), '{"id":"item1","label":"value"}');
  assert.equal(sample({ kind: "jsonl", valueField: "p" }, "probabilities"), '{"id":"item1","p":0.87}');
  assert.equal(sample({ kind: "csv", idField: "doc" }, "multilabel"), "doc,label\nitem1,value1|value2");
  assert.equal(sample({ kind: "csv", separator: ";" }, "multilabel"), "id,label\nitem1,value1;value2");
  assert.equal(sample({ kind: "csv", valueField: "value" }, "regression"), "id,value\nitem1,12.5");
  assert.equal(sample({ kind: "trec-run" }, "retrieval").split(" ").length, 6);
});

test("a converted file has the ending of its format", () => {
  assert.equal(convertedName("run.csv", "jsonl"), "run.converted.jsonl");
  assert.equal(convertedName("my.run.json.gz", "trec-run"), "my.run.converted.txt");
  assert.equal(convertedName("run", "csv"), "run.converted.csv");
});

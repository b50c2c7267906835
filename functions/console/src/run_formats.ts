// The formats of runs: the default for a dataset, the format of a file, and a sample line of each.
import type { Schemas } from "./api";
import { ruleOf } from "./column_rules";
import type { Column } from "./columns";
import type { Values } from "./ui/values";

export type Evaluator = Schemas["EvaluatorKind"];

/**
 * begin returns the default format, measures and columns of a dataset with this evaluator. The same readers see the columns as the first
 * of the columns before, from the same time.
 */
export function begin(of: Evaluator, before: Column[] = []): Values {
  const measures = of.defaults.slice(0, 2);
  return {
    runFormat: formatOf(of.formats[0], of, {}),
    evaluator: { kind: of.kind, measures },
    columns: measures.map(key => ({ key, ...ruleOf(before[0]) })),
  };
}

/**
 * formatOf returns the format of this kind. Items and values have named fields in JSON Lines and CSV; names in before
 * stay.
 */
export function formatOf(kind: unknown, of: Evaluator | undefined, before: unknown): Values {
  if (kind !== "jsonl" && kind !== "csv") return { kind };
  return { idField: "id", valueField: of?.valueField, ...(before as object), separator: undefined, kind };
}

const endings = { csv: /\.(csv|tsv)(\.gz)?$/i, jsonl: /\.jsonl?(\.gz)?$/i, conll: /\.(conll|iob2?|bio)(\.gz)?$/i };

/** formatOfName returns the format that the ending of a file's name means, if any. */
export const formatOfName = (name: string): string | undefined =>
  Object.entries(endings).find(([, ending]) => ending.test(name))?.[0];

const samples: Record<Schemas["RunFormat"]["kind"], (f: Schemas["RunFormat"], value: unknown) => string> = {
  "trec-run": () => "topic1 Q0 document7 1 14.89 my-run",
  jsonl: (f, value) => JSON.stringify({ [f.idField ?? "id"]: "item1", [f.valueField ?? "label"]: value }),
  csv: (f, value) =>
    `${f.idField ?? "id"},${f.valueField ?? "label"}\nitem1,${[value].flat().join(f.separator ?? "|")}`,
  conll: () => "Anna B-PER\nlaughs O",
};

const sampleValues: Partial<Record<Schemas["Evaluator"]["kind"], unknown>> = {
  regression: 12.5,
  clustering: "cluster1",
  text: "A text.",
  multilabel: ["value1", "value2"],
  probabilities: 0.87,
  spans: [{ start: 0, end: 4, type: "PER" }],
};

/** sampleOf returns a sample line of a run on a dataset, after a header line if its format has one. */
export const sampleOf = ({
  runFormat,
  evaluator: { kind },
}: Pick<Schemas["Dataset"], "runFormat" | "evaluator">): string =>
  samples[runFormat.kind](runFormat, sampleValues[kind] ?? "value");

type Written = Schemas["ConversionSettings"]["to"];

/** writtenAs holds the ending of file names for each format that is written. */
const writtenAs: Record<Written, string> = {
  "trec-run": "txt",
  "trec-qrels": "txt",
  jsonl: "jsonl",
  csv: "csv",
  beir: "tsv",
};

/** convertedName returns a name for a file in another format. */
export const convertedName = (name: string, to: Written): string =>
  `${name.replace(/\.gz$/i, "").replace(/\.[^.]+$/, "")}.converted.${writtenAs[to]}`;

// The columns of leaderboards: the headings and values that screens show, and the columns of a dataset's measures in its form.
import type { components } from "./api_types";
import { isForEveryone, ruleInWords, ruleOf } from "./column_rules";
import { count } from "./plural";
import { filled, member, type Values } from "./ui/values";

type Schemas = components["schemas"];
type Evaluation = Pick<Schemas["Evaluation"], "columns" | "measures">;

export type Column = Schemas["Column"];

/** WithColumns is a dataset, as far as its columns go. */
export type WithColumns = Pick<Schemas["Dataset"], "columns">;

/** headingOf returns the text over a column. */
export const headingOf = (c: Column): string => c.title || c.key;

/** columnName returns the name of a column outside a table: its heading, after that of its group. */
export const columnName = (c: Column): string => (c.group ? `${c.group}: ${headingOf(c)}` : headingOf(c));

/**
 * decimals returns a result with four decimals. Results that these would show as zero, and very large ones, have four
 * significant digits.
 */
export function decimals(v: number | null | undefined): string {
  if (v === null || v === undefined) return "–";
  const outside = v !== 0 && (Math.abs(v) < 5e-5 || Math.abs(v) >= 1e6);
  return outside ? v.toPrecision(4) : v.toFixed(4);
}

/** cellOf returns a result with the decimals of its column. */
export const cellOf = (c: Column, v: number | null | undefined): string =>
  v === null || v === undefined || c.decimals === undefined ? decimals(v) : v.toFixed(c.decimals);

/** columnOf returns the column of a measure. Without a dataset that has one, the column has only its key. */
export const columnOf = (dataset: WithColumns | undefined, key: string): Column =>
  dataset?.columns?.find(c => c.key === key) ?? { key };

/** columnsOf returns the columns of an evaluation in its order. */
export const columnsOf = (e: Evaluation, dataset: WithColumns | undefined): Column[] =>
  e.columns.map(key => columnOf(dataset, key));

/** resultOf returns the value of a measure. */
export const resultOf = (e: Pick<Evaluation, "measures">, key: string): number | null | undefined =>
  (e.measures as Record<string, number | null>)[key];

/** scoreOf returns the value of the first column. */
export function scoreOf(e: Evaluation, dataset?: WithColumns): string {
  const [first] = columnsOf(e, dataset);
  return first ? cellOf(first, resultOf(e, first.key)) : decimals(undefined);
}

/** scoreName returns the name of the column whose value scoreOf returns. */
export const scoreName = (e: Evaluation, dataset?: WithColumns): string =>
  columnsOf(e, dataset).slice(0, 1).map(columnName).join("");

/**
 * inStep returns one column for each measure: the given columns of measures in their order, and then new columns. If columns are given,
 * the new ones are for organizers, as on the server: nobody has said who else sees these measures. It leaves empty texts out.
 */
export function inStep(columns: Column[], measures: string[]): Column[] {
  const kept = columns.filter(c => measures.includes(c.key)).map(c => filled(c as Values) as Column);
  const added = measures.filter(m => !kept.some(c => c.key === m));
  const rule: Pick<Column, "audience"> = columns.length > 0 ? { audience: "organizers" } : {};
  return [...kept, ...added.map(key => ({ key, ...rule }))];
}

/** withMeasure returns the columns with one for a new measure. The readers of the first column see it, from the same time. */
export const withMeasure = (columns: Column[], key: string): Column[] => [...columns, { key, ...ruleOf(columns[0]) }];

/** columnsIn returns the columns in the values of a dataset's form, in step with its measures. */
export const columnsIn = (values: Values): Column[] =>
  inStep((member(values, "columns") ?? []) as Column[], (member(values, "evaluator/measures") ?? []) as string[]);

/** moved returns the columns with the one at an index moved by a number of places. */
export function moved(columns: Column[], from: number, by: number): Column[] {
  const others = columns.filter((_, i) => i !== from);
  return [...others.slice(0, from + by), columns[from]!, ...others.slice(from + by)];
}

/**
 * rankingKey returns the key of the column that ranks for the reader. Nothing ranks for others than the organizers in columns that only
 * teams see.
 */
export const rankingKey = (columns: Column[], organizer: boolean): string | undefined =>
  (organizer ? columns[0] : columns.find(isForEveryone))?.key;

/** columnInWords returns a column in words, such as: AP (“Average precision”, 2 decimals). */
export function columnInWords(c: Column): string {
  const words = [
    c.title && `“${c.title}”`,
    c.group && `under “${c.group}”`,
    c.decimals !== undefined && count(c.decimals, "decimal"),
    c.lowerIsBetter && "lower is better",
    ruleInWords(c),
  ].filter(Boolean);
  return words.length > 0 ? `${c.key} (${words.join(", ")})` : c.key;
}

// Who sees the values of a dataset's columns, and from when.
import type { components } from "./api_types";
import { moment } from "./ui/time";

type Schemas = components["schemas"];
type Column = Schemas["Column"];

/** Rule says who sees the values of a column, and from when. */
export type Rule = Pick<Column, "audience" | "from">;

/** Readers are the team of a run, or everyone who sees the task. */
export type Readers = "team" | "everyone";

/** Reader is the class of one reader. Organizers see all columns. */
export type Reader = Readers | "organizers";

/** readerOf returns the class of a reader. */
export function readerOf(organizer: boolean, team: boolean): Reader {
  if (organizer) return "organizers";
  return team ? "team" : "everyone";
}

/** Ruled is a dataset, as far as it says who sees values. Only answers for organizers have withheld. */
export type Ruled = Pick<Schemas["Dataset"], "columns" | "withheld">;

/** audienceLabels holds the labels of who sees a column. */
export const audienceLabels = {
  everyone: "Everyone who sees the task",
  team: "Only the team of each run",
  organizers: "Only organizers",
};

/** fromLabels holds the labels of when a column is seen. */
export const fromLabels = {
  now: "At once",
  publication: "Once the run is published",
  close: "After the last close",
  instant: "From an instant",
};

/** FromKind is the kind of a from. As a value in a form, instant stands for an instant that is not entered yet. */
export type FromKind = keyof typeof fromLabels;

/** kindOf returns the kind of a from. Each text without a label is an instant. */
export const kindOf = (from = "now"): FromKind => (from in fromLabels ? (from as FromKind) : "instant");

/** isSeenBy reports whether the readers see the column at some time. */
const isSeenBy = (c: Rule, readers: Readers): boolean =>
  c.audience !== "organizers" && (readers === "team" || c.audience !== "team");

/** isForEveryone reports whether everyone who sees the task sees the column at some time. */
export const isForEveryone = (c: Rule): boolean => isSeenBy(c, "everyone");

/** ruleOf returns the rule of a column. */
export function ruleOf(c: Rule | undefined): Rule {
  return { ...(c?.audience && { audience: c.audience }), ...(c?.from && { from: c.from }) };
}

/** areAlike reports whether the same readers see all columns from the same time. */
export const areAlike = (columns: Rule[] = []): boolean =>
  new Set(columns.map(c => `${c.audience ?? "everyone"} ${c.from ?? "now"}`)).size < 2;

/**
 * commonFrom returns the from of the columns that others than the organizers see, if it is the same for all of these. It returns
 * undefined if it differs, or if others see none.
 */
export function commonFrom(columns: Rule[]): string | undefined {
  const all = [...new Set(columns.filter(c => isSeenBy(c, "team")).map(c => c.from ?? "now"))];
  return all.length === 1 ? all[0] : undefined;
}

/** isWaiting reports whether others than the organizers may not see the column now: from a close, or from an instant to come. */
export const isWaiting = ({ from }: Rule, now = Date.now()): boolean => rankOf(from, now)[0] > 1;

/** rankOf orders froms by their time. */
function rankOf(from = "now", now: number): [rank: number, at: number] {
  switch (kindOf(from)) {
    case "now":
      return [0, 0];
    case "publication":
      return [1, 0];
    case "close":
      return [3, 0];
    case "instant":
      return Date.parse(from) <= now ? [0, 0] : [2, Date.parse(from) || Infinity];
  }
}

/**
 * firstFrom returns the from of the column that the readers see first, of runs whose review shows them. It returns never if they
 * see no column. A close is expected after each instant.
 */
export function firstFrom(columns: Rule[] = [], readers: Readers, now = Date.now()): string {
  const ranked = columns
    .filter(c => isSeenBy(c, readers))
    .map(c => ({ from: c.from ?? "now", by: rankOf(c.from, now) }))
    .sort((a, b) => a.by[0] - b.by[0] || a.by[1] - b.by[1]);
  const [first] = ranked;
  if (!first) return "never";
  return first.by[0] === 0 ? "now" : first.from;
}

/** firstNow is like firstFrom, for a dataset as organizers get it. It returns now instead of close once the last window has closed. */
export function firstNow({ columns, withheld }: Ruled, readers: Readers, now = Date.now()): string {
  const first = firstFrom(columns, readers, now);
  const closed = first === "close" && !withheld && firstFrom(columns, "team", now) === "close";
  return closed ? "now" : first;
}

/** conditionOf says what must happen besides reviews before a column with this from is seen, to follow the word once. */
export function conditionOf(from: string): string {
  switch (kindOf(from)) {
    case "close":
      return "the window of the last team has closed";
    case "instant":
      return `${moment(from)} has passed`;
    default:
      return "";
  }
}

/** instantOf returns the instant from which a column is seen, if its from is one. */
export const instantOf = ({ from }: Rule): string | undefined => (kindOf(from) === "instant" ? from : undefined);

/** fromInWords says from when a column is seen. It is empty for columns that are seen at once. */
export function fromInWords(from = "now"): string {
  switch (kindOf(from)) {
    case "now":
      return "";
    case "publication":
      return "once the run is published";
    case "close":
      return "after the last close";
    case "instant":
      return from === "instant" ? "from an instant" : `from ${moment(from)} on`;
  }
}

/** ruleInWords says who sees a column, and from when. It is empty for a column that everyone sees at once. */
export function ruleInWords({ audience, from }: Rule): string {
  const since = fromInWords(from);
  switch (audience) {
    case "organizers":
      return "only organizers see it";
    case "team":
      return `only the team of each run sees it${since && `, ${since}`}`;
    default:
      return since && `shown ${since}`;
  }
}

/** withheldNote says when scores on a dataset are shown that only organizers see now. on names the dataset. */
export function withheldNote(columns: Rule[] | undefined, on = "this dataset", now = Date.now()): string {
  const first = firstFrom(columns, "team", now);
  if (first === "never") return `Only the organizers see scores on ${on}.`;
  switch (kindOf(first)) {
    case "close":
      return `No scores on ${on} are shown before the window of the last team has closed.`;
    case "instant":
      return `No scores on ${on} are shown before ${moment(first)}.`;
    default:
      return `Scores on ${on} are shown once the run is published.`;
  }
}

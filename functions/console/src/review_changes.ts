// The flags of reviews, what a change of many reviews changes, and the changes that restore former flags.
import type { Schemas } from "./api";
import { areAlike, firstNow, fromInWords, type Ruled } from "./column_rules";
import { count } from "./plural";

type Review = Pick<Schemas["Review"], "runId" | "published" | "blinded" | "reviewedAt">;
type Change = Schemas["ReviewChange"];

/** flags are the faults of a run's output that a review names. */
export const flags = {
  noErrors: "No errors",
  missingOutput: "Output is missing",
  extraneousOutput: "There is output that was not asked for",
  invalidOutput: "Output is not valid",
  hasErrorOutput: "The program reported errors",
  otherErrors: "Other errors",
};

/**
 * changesBack returns the changes that restore the former flags of reviews, each with its runs. waited says whether
 * all runs waited for a review before; if undefined, the former reviews say so.
 */
export function changesBack(before: Review[], waited?: boolean): { change: Change; runIds: string[] }[] {
  const groups = new Map<string, { change: Change; runIds: string[] }>();
  for (const { runId, published, blinded, reviewedAt } of before) {
    const change = { published, blinded, waits: waited ?? !reviewedAt };
    const key = JSON.stringify(change);
    const group: { change: Change; runIds: string[] } = groups.get(key) ?? { change, runIds: [] };
    group.runIds.push(runId);
    groups.set(key, group);
  }
  return [...groups.values()];
}

/** changes reports whether a change gives the review another value. */
export const changes = (before: Review, change: Change): boolean =>
  Object.entries(change).some(([name, value]) =>
    name === "waits" ? value === Boolean(before.reviewedAt) : before[name as keyof Review] !== value,
  );

/** Shown is what an evaluation tells of the review of its run. */
export type Shown = Pick<Schemas["Evaluation"], "hidden" | "published"> | undefined;

/** flagsOf returns the flags of a review that an evaluation tells. A blinded run can be published. */
const flagsOf = (e: Shown): Change => (e ? { blinded: e.hidden === "blinded", published: Boolean(e.published) } : {});

/** mayChange reports whether a change can give the review of a run another value, as far as its evaluation tells. */
export const mayChange = (e: Shown, change: Change): boolean =>
  Object.entries(change).some(([name, value]) => flagsOf(e)[name as keyof Change] !== value);

/** concluded says how many runs a change gave a new state, and how many had that state before. */
export function concluded(changed: number, before: number, { became, was }: { became: string; was: string }): string {
  const verb = (n: number, one: string, many: string): string => `${count(n, "run")} ${n === 1 ? one : many}`;
  return [
    changed > 0 ? `${verb(changed, "is", "are")} ${became}.` : "Nothing was changed.",
    before > 0 && `${verb(before, "was", "were")} ${was} before.`,
  ]
    .filter(Boolean)
    .join(" ");
}

/** chunks divides a list into lists of at most size items. */
export function chunks<T>(items: T[], size: number): T[][] {
  const all: T[][] = [];
  for (let at = 0; at < items.length; at += size) all.push(items.slice(at, at + size));
  return all;
}

/**
 * withholds reports whether the columns of the dataset show the scores of a reviewed run only to organizers now, although the run is
 * not blinded. It reports false for a run without scores.
 */
export const withholds = (review?: Pick<Schemas["Review"], "blinded" | "audience">): boolean =>
  review?.audience === "organizers" && !review.blinded;

type Flags = { blinded?: unknown; published?: unknown };

/** publishedHint says who sees the scores of a run with these flags. The dataset is as organizers get it. */
export function publishedHint(
  { state, evaluationId, registrationId }: Pick<Schemas["Run"], "state" | "evaluationId" | "registrationId">,
  { blinded, published }: Flags,
  dataset: Ruled,
  now = Date.now(),
): string {
  if (state === "failed" && !evaluationId) return "The run failed: it has no scores.";
  if (state === "cancelled") return "The run was cancelled: it has no scores.";
  if (blinded)
    return "The run is blinded: until you untick that, nobody but the organizers sees its scores, published or not.";
  const waits = state === "completed" || evaluationId ? "" : " The run has no scores before it is completed.";
  const team = registrationId ? firstNow(dataset, "team", now) : "never";
  const others = firstNow(dataset, "everyone", now);
  const scores = areAlike(dataset.columns) ? "the scores" : "some of the scores";
  return seenBy(Boolean(published), team, others, scores) + waits;
}

/** seenBy says who sees scores of a run that is not blinded, from when, and whether publishing it changes that. */
function seenBy(published: boolean, team: string, others: string, scores: string): string {
  const only = "Only the organizers see the scores";
  if (others === "never") {
    if (team === "never") return `${only}, published or not.`;
    if (team === "publication")
      return published
        ? `Only the team and the organizers see ${scores}.`
        : `${only}, until you tick this. Then the team does as well.`;
    const whom = `Only the team and the organizers see ${scores}, published or not`;
    return `${whom}${sinceOf(team) && `: the team${sinceOf(team)}`}.`;
  }
  if (published) return `Everyone who sees the task sees ${scores}${sinceOf(others)}.`;
  if (team === "never") return `${only}, until you tick this.`;
  const then = sinceOf(others) === sinceOf(team) ? "" : ` Then others see ${scores}${sinceOf(others)}.`;
  if (team === "publication") return `${only}, until you tick this.${then}`;
  return sinceOf(team)
    ? `Until you tick this, only the organizers see the scores, and the team${sinceOf(team)}.${then}`
    : `Only the team and the organizers see ${scores}, until you tick this.${then}`;
}

/** sinceOf says from when readers see a column, to follow a clause. */
function sinceOf(first: string): string {
  switch (first) {
    case "now":
    case "publication":
      return "";
    case "close":
      return " after the window of the last team has closed";
    default:
      return ` ${fromInWords(first)}`;
  }
}

/** commentHint says who reads the comment of a review. A baseline has no team. */
export function commentHint({ state }: Pick<Schemas["Run"], "state">, baseline: boolean): string {
  if (baseline) return "Only the organizers and the user who submitted the baseline read it. Markdown.";
  return ["completed", "failed", "cancelled"].includes(state)
    ? "The team reads it on the page of the run, also while the run is blinded. Markdown."
    : "The team reads it on the page of the run once the run has ended, also while it is blinded. Markdown.";
}

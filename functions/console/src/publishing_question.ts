// What organizers are asked before they unblind or publish many runs at once.
import { count } from "./plural";
import type { Shown } from "./review_changes";
import { isBaseline } from "./run_rules";

/** Candidate is a run that organizers ticked. rejected is undefined if unknown. */
export type Candidate = {
  runId: string;
  datasetId: string;
  team: string;
  /** registrationId identifies the team. Baselines can have none. */
  registrationId?: string;
  rejected?: boolean;
};

/** publishable returns the runs that are published together: those of teams that take part. */
export const publishable = <T extends Candidate>(all: T[]): T[] => all.filter(r => !r.rejected);

/**
 * publishingVerb returns the label for publishing runs, as far as their evaluations tell: runs are unblinded only if one of
 * them is blinded. An evaluation is undefined if unknown.
 */
export const publishingVerb = (of: Shown[]): string =>
  of.some(e => !e || e.hidden === "blinded") ? "Unblind and publish" : "Publish";

/** Seen counts by audience the runs whose scores become visible. */
type Seen = { audience: string; runs: number }[];

const audiences: Record<string, string> = {
  everyone: "Everyone who sees the task",
  registrants: "All teams that take part",
  team: "Only the organizers and the teams that submitted them",
  organizers: "Only the organizers",
};

/**
 * markedFinal ends a count of runs with how many of them are marked as final. It is empty if finals is undefined: none of
 * their datasets takes final runs.
 */
export const markedFinal = (finals: number | undefined): string =>
  finals === undefined ? "" : `, ${finals || "none"} marked as final`;

/**
 * questionOf returns what organizers are asked before runs change. finals counts those that are marked as final, as for
 * markedFinal, and left the runs of rejected teams that are left out. withheld says of each dataset that withholds scores
 * now when it shows them.
 */
export function questionOf(
  verb: string,
  runs: Candidate[],
  finals: number | undefined,
  left: number,
  seen: Seen,
  withheld: string[] = [],
): string {
  const ofTeams = runs.filter(r => !isBaseline(r));
  const entrants = new Set(ofTeams.map(r => r.registrationId));
  const baselines = runs.length - ofTeams.length;
  const teams = count(entrants.size, "team");
  const of = baselines > 0 ? `: ${ofTeams.length} of ${teams} and ${count(baselines, "baseline")}` : ` of ${teams}`;
  const named = (audience: string): string =>
    audience === "team" && entrants.size === 0
      ? "Only the organizers and the users who submitted them"
      : (audiences[audience] ?? audience);
  return [
    entrants.size === 0
      ? `${verb} ${count(runs.length, "baseline")}?`
      : `${verb} ${count(runs.length, "run")}${of}${markedFinal(finals)}?`,
    ...seen.map(s => `${named(s.audience)} will see scores of ${count(s.runs, "run")}.`),
    ...withheld,
    left > 0 && `Left out: ${count(left, "run")} of rejected teams. Publish those one by one, in their reviews.`,
  ]
    .filter(Boolean)
    .join(" ");
}

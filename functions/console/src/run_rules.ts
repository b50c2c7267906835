// What runs are, and what a team can still do with its own run.
import type { Schemas } from "./api";
import { versionName } from "./board_reason";
import { untilScores } from "./instants";

type Run = Pick<Schemas["Run"], "state">;

/**
 * DeletionFacts decide whether a team can delete its run. published is undefined while it is unknown. If finalsClosed is
 * true, teams can no longer change their final runs.
 */
export type DeletionFacts = { published: boolean | undefined; finalsClosed: boolean };

/** publishedBy returns whether the review of a run is published, as far as the evaluation says so. A blinded run can be. */
export function publishedBy(r: Run, e: Pick<Schemas["Evaluation"], "hidden"> | undefined): boolean | undefined {
  if (e) return e.hidden === "blinded" ? undefined : e.hidden !== "unpublished";
  return r.state === "completed" ? undefined : false;
}

/** keptBecause returns why a team cannot delete its run. It is empty if the team can, and undefined if that is unknown. */
export function keptBecause({ published, finalsClosed }: DeletionFacts): string | undefined {
  if (finalsClosed) return "The dataset takes final runs and has closed, so only the organizers can delete the run.";
  if (published) return "The review of the run is published, so only the organizers can delete the run.";
  return published === undefined ? undefined : "";
}

/**
 * nextRead returns in how many milliseconds an open run is read again because its dataset shows scores after the close;
 * 0: not by itself.
 */
export function nextRead(
  r: Pick<Schemas["Run"], "state" | "evaluationId">,
  scores: Schemas["Dataset"]["scores"],
  closesAt: string | undefined,
  now = Date.now(),
): number {
  const waits = r.state === "completed" && !r.evaluationId;
  return waits && scores === "afterClose" ? untilScores(closesAt, now) : 0;
}

/**
 * againstNote says against which version the values of a run are, if that is not the dataset's version, or if the run has
 * failed since. Otherwise it is empty.
 */
export function againstNote(
  r: Run,
  e: Pick<Schemas["Evaluation"], "truthVersion">,
  d: Pick<Schemas["Dataset"], "truthVersion"> | undefined,
): string {
  const said = `These values are against ${versionName(e.truthVersion)}.`;
  const later = d && e.truthVersion < d.truthVersion ? ` against version ${d.truthVersion}` : " again";
  if (r.state === "failed") return `${said} The run failed when it was evaluated${later}: leaderboards do not show it.`;
  return d && e.truthVersion < d.truthVersion ? `${said} The run has not been evaluated${later} yet.` : "";
}

/**
 * finalsNote says which runs leaderboards show as final for a team that marked none. Runs that are not published stay
 * unknown to others.
 */
export const finalsNote =
  "Leaderboards find the last runs of a team among those that their reader sees: for most readers, the published ones.";

/** isBaseline reports whether a run is a baseline that organizers submitted without a team. No team can have this name. */
export const isBaseline = ({ team }: { team: string }): boolean => team === "baseline";

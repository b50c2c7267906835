// What runs are, and what a team can still do with its own run.
import type { Schemas } from "./api";

type Run = Pick<Schemas["Run"], "state">;

/** Standing says of a run whether its review is published, unless that is unknown, and whether its final choice is over. */
export type Standing = { published: boolean | undefined; finalsClosed: boolean };

/** publishedBy returns whether the review of a run is published, as far as the evaluation says so. A blinded run can be. */
export function publishedBy(r: Run, e: Pick<Schemas["Evaluation"], "hidden"> | undefined): boolean | undefined {
  if (e) return e.hidden === "blinded" ? undefined : e.hidden !== "unpublished";
  return r.state === "completed" ? undefined : false;
}

/** keptBecause returns why a team cannot delete its run. It is empty if the team can, and undefined if that is unknown. */
export function keptBecause({ published, finalsClosed }: Standing): string | undefined {
  if (finalsClosed) return "The dataset takes final runs and has closed, so only the organizers can delete the run.";
  if (published) return "The review of the run is published, so only the organizers can delete the run.";
  return published === undefined ? undefined : "";
}

const minute = 60_000;
const lag = 2000; // until the server shows the scores of a dataset that has closed

/**
 * nextRead returns in how many milliseconds an open run is read again because its dataset shows scores after the close;
 * 0: not by itself. Exceptions move the close, so each minute counts.
 */
export function nextRead(
  r: Pick<Schemas["Run"], "state" | "evaluationId">,
  scores: Schemas["Dataset"]["scores"],
  closesAt: string | undefined,
  now = Date.now(),
): number {
  if (r.state !== "completed" || r.evaluationId || scores !== "afterClose") return 0;
  const left = closesAt ? Date.parse(closesAt) - now + lag : minute;
  return left > 0 ? Math.min(left, minute) : minute;
}

/** isBaseline reports whether a run is a baseline that organizers submitted without a team. No team can have this name. */
export const isBaseline = ({ team }: { team: string }): boolean => team === "baseline";

// What a team may submit to a dataset, in words.
import type { Schemas } from "./api";
import { count } from "./plural";

type Quota = Schemas["DatasetQuota"];
type Instant = string | undefined;

/** leftOf returns how many runs can be submitted now. The instant is the time of the next one. */
export function leftOf(q: Pick<Quota, "left" | "nextAt">): { said: string; next: Instant } {
  if (q.left === undefined) return { said: "no limit", next: undefined };
  return { said: q.left === 0 ? "no run is left" : `${count(q.left, "run")} left`, next: q.nextAt };
}

/** limitsOf returns the limits of a quota. It is empty without limits. */
export const limitsOf = (q: { perDay?: number; total?: number }): string =>
  [q.perDay && `${q.perDay} in 24 hours`, q.total && `${q.total} in all`].filter(Boolean).join(", ");

const reasons: Record<NonNullable<Quota["closedReason"]>, string> = {
  registration: "takes runs of accepted teams only",
  early: "opens",
  late: "closed",
  truth: "takes no runs yet: the organizers have not stored a ground truth without errors",
  deletion: "takes no runs: it is being deleted",
};

/** windowOf returns whether a dataset takes runs of the team. The instant is its opening or close, if it matters. */
export function windowOf(q: Quota): { said: string; at: Instant } {
  if (q.open) return q.closesAt ? { said: "takes runs until", at: q.closesAt } : { said: "takes runs", at: undefined };
  const reason = q.closedReason ?? "late";
  return { said: reasons[reason], at: { early: q.opensAt, late: q.closesAt }[reason as string] };
}

/** takes reports whether the team can submit a run to the dataset now. */
export const takes = (q: Quota | undefined): boolean => q === undefined || (q.open && q.left !== 0);

/** blindedNote says when a team sees the scores of runs on a dataset, if that is not at once. */
export function blindedNote(d: Pick<Schemas["Dataset"], "split" | "scores">): string {
  const blinded = d.split === "test" && "Runs start blinded: their scores are shown once the organizers unblind them.";
  const withheld = d.scores === "afterClose" && "No scores are shown before the window of the last team has closed.";
  return [withheld, blinded].filter(Boolean).join(" ");
}

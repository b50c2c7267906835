// What runs are, and what a team can still do with its own run.
import type { Schemas } from "./api";
import { versionName } from "./board_reason";

type Reader = { id: string; registrations: { registrationId: string }[] };

/**
 * isOurs reports whether a run belongs to a team of the reader or, for a baseline without a team, to the reader. A run
 * stays with its team when the reader leaves the team. No run belongs to a reader who is not signed in. Only the team and
 * the organizers see the registration.
 */
export const isOurs = (
  me: Reader | undefined,
  r: Pick<Schemas["Run"], "userId" | "registrationId" | "team">,
): boolean =>
  me !== undefined &&
  (isBaseline(r) ? r.userId === me.id : me.registrations.some(g => g.registrationId === r.registrationId));

/**
 * DeletionFacts decide whether a team can delete its run. published is undefined while it is unknown. If finalsClosed is
 * true, teams can no longer change their final runs.
 */
export type DeletionFacts = { published: boolean | undefined; finalsClosed: boolean };

/**
 * publishedBy returns whether the review of a run is published, as far as its evaluation says so. The reviews of blinded
 * runs can be, and those of failed runs that were completed before.
 */
export function publishedBy(e: Pick<Schemas["Evaluation"], "hidden"> | undefined): boolean | undefined {
  return !e || e.hidden === "blinded" ? undefined : e.hidden !== "unpublished";
}

/** keptBecause returns why a team cannot delete its run. It is empty if the team can, and undefined if that is unknown. */
export function keptBecause({ published, finalsClosed }: DeletionFacts): string | undefined {
  if (finalsClosed) return "The dataset takes final runs and has closed, so only the organizers can delete the run.";
  if (published) return "The review of the run is published, so only the organizers can delete the run.";
  return published === undefined ? undefined : "";
}

/**
 * unrestorable returns why a team cannot restore what it deletes. It is empty if the team can. Like submitting, restoring
 * takes an accepted team that has accepted the present terms.
 */
export function unrestorable(state: Schemas["Registration"]["state"], asksForTerms: boolean): string {
  if (state === "rejected") return "The organizers rejected your team, so only they can restore what it deletes.";
  if (state === "pending")
    return "Your team can restore what it deletes only once the organizers have accepted the team.";
  return asksForTerms ? "Your team can restore what it deletes only once it has accepted the present terms." : "";
}

/**
 * againstNote says against which version the values of a run are, if that is not the dataset's version, or if the run has
 * failed since. Otherwise it is empty.
 */
export function againstNote(
  r: Pick<Schemas["Run"], "state">,
  e: Pick<Schemas["Evaluation"], "truthVersion">,
  d: Pick<Schemas["Dataset"], "truthVersion" | "boardVersion"> | undefined,
): string {
  const said = `These values are against ${versionName(e.truthVersion)}.`;
  const later = d && e.truthVersion < d.truthVersion ? ` against version ${d.truthVersion}` : " again";
  const shown =
    d && d.boardVersion < d.truthVersion
      ? `leaderboards show it until they show version ${d.truthVersion}`
      : "leaderboards do not show it";
  if (r.state === "failed") return `${said} The run failed when it was evaluated${later}: ${shown}.`;
  return d && e.truthVersion < d.truthVersion ? `${said} The run has not been evaluated${later} yet.` : "";
}

/**
 * finalsNote says which runs leaderboards show as final. Of a team that marked none, runs that are not published stay
 * unknown to others.
 */
export const finalsNote =
  "Leaderboards find the last runs of a team among those that their reader sees: for most readers, the published ones. " +
  "If the results of its marked runs are hidden from the reader, leaderboards of final runs leave the team out.";

/** isBaseline reports whether a run is a baseline that organizers submitted without a team. No team can have this name. */
export const isBaseline = ({ team }: { team: string }): boolean => team === "baseline";

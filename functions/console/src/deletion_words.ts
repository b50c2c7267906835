// Deleted resources and the trash, in words.
import { count } from "./plural";

/** nobodyRestores describes a deleted task that its organizers can no longer restore. */
export const nobodyRestores = "Nobody can restore it any more.";

/** lostWith says which deleted tasks nobody can restore once their organizer is deleted. It is empty without such tasks. */
export function lostWith(names: string[]): string {
  if (names.length === 0) return "";
  const which = names.map(name => `“${name}”`).join(", ");
  return names.length === 1
    ? `The deleted task ${which} goes with it: it can then no longer be restored from the trash. `
    : `The deleted tasks ${which} go with it: they can then no longer be restored from the trash. `;
}

/** lostWithAccount says what becomes of the runs of users who delete their account. */
export const lostWithAccount =
  "Your profile, tokens and notes are deleted. A team with other members keeps its runs. If you are the only member of a team, " +
  "its runs that were completed and whose review is published stay under an alias, also if they failed later, after a " +
  "change of the ground truth or the evaluator. Its other runs are deleted.";

const trashTime = 30 * 24 * 3600_000; // how long the server keeps deleted resources

/**
 * endsRestoring reports whether a dataset closes before the trash drops a run that is deleted now. If the dataset takes
 * final runs, the team can restore the run only until the close.
 */
export const endsRestoring = (closesAt: string | undefined, now = Date.now()): closesAt is string =>
  closesAt !== undefined && Date.parse(closesAt) < now + trashTime;

/** unmarkedBefore says how many runs would not be final any more if the resource were restored. It is empty without such runs. */
export const unmarkedBefore = (runs: number): string =>
  runs === 0 ? "" : `If it is restored now, ${unmarkedAfter(runs)}`;

/** unmarkedAfter says how many runs of a restored resource are not final any more. It is empty without such runs. */
export const unmarkedAfter = (runs: number): string =>
  runs === 0
    ? ""
    : `${count(runs, "run")} of it ${runs === 1 ? "is" : "are"} not final any more: the team has chosen others.`;

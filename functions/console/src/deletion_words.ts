// What texts say of deleted resources and the trash.
import { count } from "./plural";

/** nobodyRestores is said of a deleted task whose organizers can no longer restore it. */
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

const trashTime = 30 * 24 * 3600_000; // as the server keeps deleted resources

/**
 * endsRestoring reports whether a team that deletes a run now can restore it only until the close: sooner than the trash
 * is emptied. Only datasets that take final runs end the restoring.
 */
export const endsRestoring = (closesAt: string | undefined, now = Date.now()): closesAt is string =>
  closesAt !== undefined && Date.parse(closesAt) < now + trashTime;

/** unmarkedBefore says how many runs would not be final any more if the resource were restored. It is empty without such runs. */
export const unmarkedBefore = (runs: number): string =>
  runs === 0
    ? ""
    : `If it is restored now, ${count(runs, "run")} of it ${runs === 1 ? "is" : "are"} not final any more: the team has chosen others.`;

/** unmarkedAfter says the same of what was restored. */
export const unmarkedAfter = (runs: number): string =>
  runs === 0
    ? ""
    : `${count(runs, "run")} of it ${runs === 1 ? "is" : "are"} not final any more: the team has chosen others.`;

// Why entries of a leaderboard are hidden, and since when ranks have changed.
import type { Schemas } from "./api";

/** versionName names a version by its number. A change of the evaluator makes a version, too. */
export const versionName = (number: number): string => `version ${number} of the ground truth and evaluator`;

type Entry = Pick<Schemas["LeaderboardEntry"], "hidden" | "published">;

const hiddenMarks: Record<NonNullable<Entry["hidden"]>, string> = {
  blinded: "blinded",
  unpublished: "not published",
  columns: "published, columns hidden",
};

/** markOf returns why others do not see an entry. It is empty if they do. */
export function markOf({ hidden, published }: Entry): string {
  if (!hidden) return "";
  return hidden === "blinded" && published ? "published, blinded" : hiddenMarks[hidden];
}

type Compared = { against?: number; entries: Pick<Schemas["LeaderboardEntry"], "change">[] };

const compared = "among the entries that both versions rank"; // A new entry above others moves them without a mark.

/** changesNote says from which version a board shows changes of rank, and if there are none. It is empty unless the reader asked for changes. */
export function changesNote({ against, entries }: Compared): string {
  if (!against) return "";
  const changed = entries.some(e => e.change && (e.change.absent || e.change.difference !== 0));
  return changed
    ? `Changes of rank are from version ${against}, ${compared}.`
    : `No rank here has changed since version ${against}, ${compared}.`;
}

// Why a leaderboard is empty, and when that can change.
import type { Schemas } from "./api";
import { untilScores } from "./instants";

const reasons: Record<Schemas["EmptyBoard"]["reason"], string> = {
  results: "No run on this dataset has a result yet.",
  afterClose:
    "Nothing is shown before the window of the last team has closed. From then on, runs that are published and not blinded appear here.",
  blinded:
    "Nothing is published yet. Runs on this dataset start blinded: they appear here once the organizers have unblinded and published them.",
  unpublished: "Nothing is published yet. Runs appear here once the organizers have published them.",
  final: "The teams marked other runs as final than those that are shown here without this choice.",
};

/** later are the reasons of datasets that show no scores before the close of the last window. */
const later: typeof reasons = {
  ...reasons,
  blinded:
    "Runs appear here once the organizers have unblinded and published them and the window of the last team has closed.",
  unpublished: "Runs appear here once the organizers have published them and the window of the last team has closed.",
};

/** versionName names a version by its number. A change of the evaluator makes a version, too. */
export const versionName = (number: number): string => `version ${number} of the ground truth and evaluator`;

/** changed are the reasons after a change of the ground truth or evaluator: runs can have had results before, and failed since. */
const changed = (version: number): Partial<typeof reasons> => ({
  results: `No run on this dataset has a result against ${versionName(version)}.`,
  blinded: `The organizers show no results against ${versionName(version)}. Runs on this dataset start blinded.`,
  unpublished: `The organizers show no results against ${versionName(version)}.`,
});

/**
 * emptyBoard returns why a leaderboard has no entries. final says that it shows only runs that are marked as final,
 * scores when the dataset shows scores, and version which truth version the results are against.
 */
export function emptyBoard(
  empty: Schemas["EmptyBoard"] | undefined,
  final: boolean,
  scores?: Schemas["Dataset"]["scores"],
  version = 1,
): string {
  const reason = empty?.reason ?? "results";
  const said = (version > 1 && changed(version)[reason]) || (scores === "afterClose" ? later : reasons)[reason];
  return final ? `No run that is marked as final is here. ${said}` : said;
}

/** hiddenMarks are the marks of entries that others do not see. */
export const hiddenMarks: Record<NonNullable<Schemas["LeaderboardEntry"]["hidden"]>, string> = {
  blinded: "blinded",
  unpublished: "not published",
  afterClose: "published, withheld until the last close",
};

type Board = {
  entries: Pick<Schemas["LeaderboardEntry"], "hidden">[];
  empty?: Pick<Schemas["EmptyBoard"], "until">;
};

/**
 * nextLook returns in how many milliseconds an open leaderboard is read again; 0: not by itself. A dataset that shows
 * scores after its close does so without any action of the reader.
 */
export function nextLook(b: Board | undefined, scores: Schemas["Dataset"]["scores"], now = Date.now()): number {
  const waits = b && (b.entries.length === 0 || b.entries.some(e => e.hidden === "afterClose"));
  return waits && scores === "afterClose" ? untilScores(b.empty?.until, now) : 0;
}

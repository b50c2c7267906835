// Why a leaderboard is empty.
import type { Schemas } from "./api";
import { stageOf, truthState } from "./stage";

type Dataset = Pick<
  Schemas["Dataset"],
  "split" | "scores" | "publish" | "submissions" | "truths" | "truthVersion" | "diagnostics"
>;

/** Board is a leaderboard without entries, as its reader chose it. */
export type Board = { organizer: boolean; publicView: boolean; final: boolean; closesAt?: string };

/** emptyBoard returns why a leaderboard of the dataset has no entries for the reader. */
export function emptyBoard(d: Dataset, b: Board, now = Date.now()): string {
  if (d.truthVersion === 0)
    return b.organizer && truthState(d) !== "waits"
      ? "Nothing is evaluated yet: the dataset has no accepted ground truth."
      : "Nothing is evaluated yet: the ground truth of the dataset is not accepted yet.";
  const closesAt = d.submissions?.closesAt ?? b.closesAt;
  const insider = b.organizer && !b.publicView;
  if (d.scores === "afterClose" && !insider && stageOf({ closesAt }, now) !== "past")
    return "Scores are withheld until the window of the last team has closed. Then published runs appear here.";
  const finals = b.final ? "No run that is marked as final is here. " : "";
  if (insider) return `${finals}No run on this dataset is evaluated yet.`;
  if (d.split === "test")
    return `${finals}Nothing is published yet. Runs on a test dataset start blinded: they appear here once the organizers have unblinded and published them.`;
  if (d.publish === "onCompletion") return `${finals}No run is evaluated yet. Runs appear here as soon as they are.`;
  return `${finals}Nothing is published yet. Runs appear here once the organizers have published them.`;
}

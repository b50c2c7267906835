// Why a leaderboard is empty.
import type { Schemas } from "./api";

const reasons: Record<Schemas["EmptyBoard"]["reason"], string> = {
  results: "No run on this dataset is evaluated yet.",
  afterClose: "Scores are withheld until the window of the last team has closed. Then published runs appear here.",
  blinded:
    "Nothing is published yet. Runs on this dataset start blinded: they appear here once the organizers have unblinded and published them.",
  unpublished: "Nothing is published yet. Runs appear here once the organizers have published them.",
};

/** emptyBoard returns why a leaderboard has no entries. final says that it shows only runs that are marked as final. */
export function emptyBoard(empty: Schemas["EmptyBoard"] | undefined, final: boolean): string {
  const said = reasons[empty?.reason ?? "results"];
  return final ? `No run that is marked as final is here. ${said}` : said;
}

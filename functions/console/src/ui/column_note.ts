// The sentence of a leaderboard about columns that some readers do not see now.
import type { Schemas } from "../api";
import { hiddenNote, laterNote } from "../column_notes";
import { isForEveryone, isWaiting, type Reader } from "../column_rules";
import type { Column } from "../columns";
import { useTool } from "../data";

/** useColumnNote returns a sentence about the columns that others than the reader do not see, or that the reader does not see yet. */
export function useColumnNote(d: Schemas["Dataset"], shown: Column[] | undefined, reader: Reader): string {
  const organizer = reader === "organizers" && d.columns?.some(c => !isForEveryone(c) || isWaiting(c));
  const others = useTool("leaderboard", organizer ? { datasetId: d.id, limit: 1, view: "public" } : null).data?.columns;
  if (!shown || shown.length === 0) return "";
  if (reader !== "organizers")
    return laterNote(
      d.columns,
      shown.map(c => c.key),
      reader,
    );
  return organizer && others ? hiddenNote(shown.filter(c => !others.some(o => o.key === c.key))) : "";
}

// Choices on a leaderboard that its dataset does not have, for example because the reader made them for another dataset.
import type { Schemas } from "./api";
import type { Fault } from "./ui/values";

const entries = ["best", "all", "final"];

/** names are the choices in the address, by the member of the tool's input that each sets. */
const names: Record<string, string> = { measure: "sort", final: "show", against: "against" };

/**
 * lackedChoices returns the choices in the address that the dataset does not have. faults are those of the server, which
 * knows the measures and versions of the results.
 */
export function lackedChoices(
  query: URLSearchParams,
  d: Pick<Schemas["Dataset"], "finalRuns">,
  faults: Pick<Fault, "pointer">[] = [],
): string[] {
  const show = query.get("show") ?? "best";
  const lacked = faults.map(f => names[f.pointer?.slice(1) ?? ""] ?? "");
  if (!entries.includes(show) || (show === "final" && !d.finalRuns)) lacked.push("show");
  return [...new Set(lacked)].filter(name => query.has(name));
}

/** withoutChoices returns the query without the named choices. */
export const withoutChoices = (query: URLSearchParams, lacked: string[]): URLSearchParams =>
  new URLSearchParams([...query].filter(([name]) => !lacked.includes(name)));

// The flags of reviews, and the changes that restore former flags.
import type { Schemas } from "./api";

type Review = Pick<Schemas["Review"], "runId" | "published" | "blinded" | "reviewedAt">;
type Change = Schemas["ReviewChange"];

/** flags are the faults of a run's output that a review names. */
export const flags = {
  noErrors: "No errors",
  missingOutput: "Output is missing",
  extraneousOutput: "There is output that was not asked for",
  invalidOutput: "Output is not valid",
  hasErrorOutput: "The program reported errors",
  otherErrors: "Other errors",
};

/**
 * changesBack returns the changes that restore the former flags of reviews, each with its runs. waited says whether
 * all runs waited for a review before; if undefined, the former reviews say so.
 */
export function changesBack(before: Review[], waited?: boolean): { change: Change; runIds: string[] }[] {
  const groups = new Map<string, { change: Change; runIds: string[] }>();
  for (const { runId, published, blinded, reviewedAt } of before) {
    const change = { published, blinded, waits: waited ?? !reviewedAt };
    const key = JSON.stringify(change);
    const group: { change: Change; runIds: string[] } = groups.get(key) ?? { change, runIds: [] };
    group.runIds.push(runId);
    groups.set(key, group);
  }
  return [...groups.values()];
}

/** chunks divides a list into lists of at most size items. */
export function chunks<T>(items: T[], size: number): T[][] {
  const all: T[][] = [];
  for (let at = 0; at < items.length; at += size) all.push(items.slice(at, at + size));
  return all;
}

// The faults of files: a diagnostic can stand for many lines.
import type { Schemas } from "./api";

type Diagnostic = Schemas["Diagnostic"];

/** placeOf returns where a fault is: its line, all lines with it, or how often it occurs. */
export function placeOf(d: Diagnostic): string {
  if (d.lines) return d.lines;
  if (d.line) return String(d.line);
  return d.count ? `${d.count} times` : "–";
}

/** clauseOf returns where a fault is, as the beginning of a sentence; "" if it concerns a whole file. */
export function clauseOf(d: Diagnostic): string {
  if (d.lines) return `Lines ${d.lines}: `;
  return d.line ? `Line ${d.line}: ` : "";
}

/**
 * isNote reports whether a diagnostic is a warning that concerns no file, such as one about missing workers. It is no
 * fault of what somebody wrote.
 */
export const isNote = (d: Diagnostic): boolean =>
  d.severity === "warning" && d.file === undefined && d.line === undefined && d.count === undefined;

/** faultsOf returns the number of faults that diagnostics stand for. */
export const faultsOf = (all: Diagnostic[]): number => all.reduce((sum, d) => sum + (d.count ?? 1), 0);

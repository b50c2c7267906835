// What a queued run waits for.
import type { Schemas } from "./api";

type Run = Pick<Schemas["Run"], "state" | "files" | "userId">;
type Dataset = Pick<Schemas["Dataset"], "evaluator" | "truthVersion">;

/** noticeOf returns the notice of a run, unless waitsFor says the same. Of a run that was evaluated before, it says more. */
export const noticeOf = (r: Schemas["Run"], d: Dataset | undefined): string =>
  waitsFor(r, d) && !r.evaluationId ? "" : (r.notice ?? "");

/**
 * waitsFor returns what a queued run waits for, if it is known, and an empty text for other runs. Only runs that a worker
 * has not executed yet have no files. Others than an anonymous team and the organizers see neither its files nor its user.
 */
export function waitsFor(r: Run, d: Dataset | undefined): string {
  if (r.state !== "queued" || !d) return "";
  if (r.files.length === 0) return r.userId ? "waits for a worker that executes it" : "";
  if (d.truthVersion === 0) return "waits until the organizers have stored the ground truth";
  return d.evaluator.kind === "worker" ? "waits for a worker that evaluates it" : "waits for its turn to be evaluated";
}

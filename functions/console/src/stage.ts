// Where a task stands, by its window for submissions.
import type { Schemas } from "./api";

export type Stage = "open" | "upcoming" | "past";
type Window = { opensAt?: string; closesAt?: string };

export function stageOf(w: Window | undefined, now = Date.now()): Stage {
  if (w?.closesAt && Date.parse(w.closesAt) <= now) return "past";
  return w?.opensAt && Date.parse(w.opensAt) > now ? "upcoming" : "open";
}

/** registers reports whether teams can register now. */
export const registers = (t: Schemas["Task"]): boolean =>
  t.registration?.mode !== "closed" && stageOf(t.registration) === "open";

/** submissionTypes are those that the task takes: all, unless it names some. */
export const submissionTypes = (t: Schemas["Task"]): Schemas["SubmissionDraft"]["type"][] =>
  t.submissions?.types?.length ? t.submissions.types : ["upload", "image", "repository"];

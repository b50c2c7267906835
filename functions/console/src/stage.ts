// The stage of a task, and the state of the ground truth of a dataset.
import type { Schemas } from "./api";

export type Stage = "open" | "upcoming" | "past";
type Window = { opensAt?: string; closesAt?: string };

/** stageOf returns whether now is before, in or after a window. A window without limits is open. */
export function stageOf(w: Window | undefined, now = Date.now()): Stage {
  if (w?.closesAt && Date.parse(w.closesAt) <= now) return "past";
  return w?.opensAt && Date.parse(w.opensAt) > now ? "upcoming" : "open";
}

type Task = Pick<Schemas["Task"], "submissions">;
type Dataset = Pick<Schemas["Dataset"], "name" | "submissions">;

/** Staged is the stage of a task. by names the datasets that have this stage while the task itself does not. */
export type Staged = { stage: Stage; by: { name: string; window: Window }[] };

const stages: Stage[] = ["open", "upcoming", "past"];

/**
 * stagedOf returns the stage of a task: open while the task or one of its datasets takes submissions. Instants that a
 * dataset leaves out are those of the task.
 */
export function stagedOf(t: Task, datasets: Dataset[], now = Date.now()): Staged {
  const own = stageOf(t.submissions, now);
  const windows = datasets.map(d => ({
    name: d.name,
    window: {
      opensAt: d.submissions?.opensAt ?? t.submissions?.opensAt,
      closesAt: d.submissions?.closesAt ?? t.submissions?.closesAt,
    },
  }));
  const all = [own, ...windows.map(w => stageOf(w.window, now))];
  const stage = stages.find(s => all.includes(s))!;
  return { stage, by: stage === own ? [] : windows.filter(w => stageOf(w.window, now) === stage) };
}

/** registers reports whether teams can register now. */
export const registers = (t: Schemas["Task"]): boolean =>
  t.registration?.mode !== "closed" && stageOf(t.registration) === "open";

/** submissionTypes returns the types of submissions that the task takes. It takes all types unless it names some. */
export const submissionTypes = (t: Schemas["Task"]): Schemas["SubmissionDraft"]["type"][] =>
  t.submissions?.types?.length ? t.submissions.types : ["upload", "image", "repository"];

export type TruthState = "missing" | "refused" | "waits" | "accepted";

/**
 * truthState returns the state of the ground truth of a dataset. The ground truth waits until all its files have
 * arrived and the server has read them.
 */
export function truthState(d: Pick<Schemas["Dataset"], "truths" | "diagnostics" | "truthVersion">): TruthState {
  if (!d.truths?.length) return "missing";
  if (d.diagnostics?.some(x => x.severity === "error")) return "refused";
  return d.truthVersion === 0 ? "waits" : "accepted";
}

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

/**
 * StageDate is an opening or a close. name is the name of its dataset, or empty for the window of the task. until is the
 * close after an opening.
 */
export type StageDate = { name: string; at: string | undefined; until?: string };

/** Staged is the stage of a task, with the openings of what opens, or the closes of what is open or has closed. */
export type Staged = { stage: Stage; dates: StageDate[] };

const stages: Stage[] = ["open", "upcoming", "past"];

/** windowOf returns the window of a dataset. The task's instants stand where the dataset has none. */
export const windowOf = (d: Pick<Dataset, "submissions">, t: Task): Window => ({
  opensAt: d.submissions?.opensAt ?? t.submissions?.opensAt,
  closesAt: d.submissions?.closesAt ?? t.submissions?.closesAt,
});

/**
 * stagedOf returns the stage of a task: open while one of its datasets takes submissions. The window of the task itself
 * decides only for a task without datasets. The page / computes the same in record.TaskItem.Stage.
 */
export function stagedOf(t: Task, datasets: Dataset[], now = Date.now()): Staged {
  const own = { name: "", window: t.submissions ?? {} };
  const all = datasets.map(d => ({ name: d.name, window: windowOf(d, t) }));
  const stage = stages.find(s => (all.length > 0 ? all : [own]).some(w => stageOf(w.window, now) === s))!;
  const here = all.filter(w => stageOf(w.window, now) === stage);
  const dateOf = ({ opensAt, closesAt }: Window): Omit<StageDate, "name"> => {
    if (stage !== "upcoming") return { at: closesAt };
    return { at: opensAt, ...(closesAt && { until: closesAt }) };
  };
  const of = dateOf(own.window);
  const dates = here.map(w => {
    const date = dateOf(w.window);
    return { name: date.at === of.at && date.until === of.until ? "" : w.name, ...date };
  });
  const shared = dates.filter(d => d.name === "").slice(0, 1);
  return {
    stage,
    dates: here.length > 0 ? [...shared, ...dates.filter(d => d.name !== "")] : [{ name: "", ...of }],
  };
}

type Quotas = NonNullable<Schemas["Quota"]["datasets"]>;

/** withOwnWindows returns datasets with the windows of the reader's team in place of those for all, which may close earlier. */
export const withOwnWindows = <D extends Pick<Schemas["Dataset"], "id" | "submissions">>(all: D[], own: Quotas): D[] =>
  all.map(d => {
    const q = own.find(q => q.datasetId === d.id);
    return q ? { ...d, submissions: { ...d.submissions, opensAt: q.opensAt, closesAt: q.closesAt } } : d;
  });

/** hasDeadline reports whether the task closes: it has a close, or each of its datasets has one. */
export const hasDeadline = (t: Task, datasets: Pick<Dataset, "submissions">[]): boolean =>
  Boolean(t.submissions?.closesAt) || (datasets.length > 0 && datasets.every(d => d.submissions?.closesAt));

/** closedForTeams warns users who can still register for a task that has closed. */
export const closedForTeams =
  "The task has closed for submissions. A team that registers now can submit only if the organizers set a later close.";

/** registers reports whether teams can register now. */
export const registers = (t: Schemas["Task"]): boolean =>
  t.registration?.mode !== "closed" && stageOf(t.registration) === "open";

type Type = Schemas["SubmissionDraft"]["type"];

/** submissionTypes returns the types of submissions that the task takes. It takes all types unless it names some. */
export const submissionTypes = (t: Task): Type[] =>
  t.submissions?.types?.length ? t.submissions.types : ["upload", "image", "repository"];

const forms: Record<Type, string> = { upload: "files", image: "container images", repository: "repositories" };

/** typesOf returns the types of submissions that a dataset of the task takes: repositories only if it builds them. */
export const typesOf = (t: Task, d: Pick<Schemas["Dataset"], "builds">): Type[] =>
  submissionTypes(t).filter(type => type !== "repository" || d.builds);

/** typesOfAny returns the types of submissions that at least one of the datasets of the task takes. */
export const typesOfAny = (t: Task, datasets: Pick<Schemas["Dataset"], "builds">[]): Type[] =>
  submissionTypes(t).filter(type => datasets.some(d => typesOf(t, d).includes(type)));

/** formsOf names types of submissions. There are none if the task takes only repositories, and no dataset builds them. */
export const formsOf = (types: Type[]): string =>
  types.map(type => forms[type]).join(", ") ||
  "no submissions: the task takes only repositories, and nothing builds them";

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

/** noRunNote says to organizers that a dataset has no run, and whether teams can submit one. */
export function noRunNote(
  d: Pick<Schemas["Dataset"], "submissions" | "truths" | "diagnostics" | "truthVersion">,
  t: Task,
  now = Date.now(),
): string {
  if (truthState(d) !== "accepted") return "No run is here: runs need a ground truth that is stored without errors.";
  switch (stageOf(windowOf(d, t), now)) {
    case "past":
      return "No run is here, and the dataset has closed. Only teams with a later close of their own can still submit.";
    case "upcoming":
      return "No run is here: the dataset has not opened yet.";
    case "open":
      return "No run is here. Teams submit by the page of the task.";
  }
}

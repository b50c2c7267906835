// The steps of organizers until a task can be published.
import type { Schemas } from "./api";
import { hasDeadline, type TruthState, truthState } from "./stage";

type Task = Schemas["Task"];
type Dataset = Schemas["Dataset"];

/** truthWords describes the state of the ground truth after the name of the dataset. */
export const truthWords: Record<TruthState, [said: string, kind: "good" | "bad" | "warm"]> = {
  missing: ["has no ground truth", "bad"],
  refused: ["has a ground truth with errors", "bad"],
  waits: ["is being read", "warm"],
  accepted: ["ground truth accepted", "good"],
};

/** baselineAt returns the address at which organizers submit a baseline, or add a dataset first. */
export const baselineAt = (task: Task, datasets: Dataset[]): string =>
  `#/tasks/${task.id}/${datasets.length > 0 ? "submit?baseline=1" : "datasets/new"}`;

/** Step is a step of organizers. at is an address of the console, or the id of a part of the page. */
export type Step = { done: boolean; name: string; at: string; note: string; optional?: true };

/** stepsOf returns the steps of a task in their order. */
export function stepsOf(task: Task, datasets: Dataset[], runs: Schemas["Run"][]): Step[] {
  return [
    {
      done: datasets.length > 0,
      name: "Add a dataset",
      at: `#/tasks/${task.id}/datasets/new`,
      note: "What participants get, and how their runs are measured.",
    },
    truthStep(task, datasets),
    {
      done: runs.some(r => r.state === "completed"),
      name: "Have a baseline evaluated",
      at: baselineAt(task, datasets),
      note: "So that you know that the task works before others do.",
    },
    {
      done: hasDeadline(task, datasets),
      name: "Set a deadline",
      at: "submissions",
      note: "Without one, runs are taken without end.",
      optional: true,
    },
    {
      done: Boolean(task.terms?.text),
      name: "Write terms",
      at: "terms",
      note: "What teams accept when they register.",
      optional: true,
    },
    {
      done: task.visibility !== "private",
      name: "Open it to everyone",
      at: "publish",
      note: "Until then only its organizers and the teams that they accept see it.",
    },
  ];
}

function truthStep(task: Task, datasets: Dataset[]): Step {
  const name = "Store its ground truth";
  const open = datasets.find(d => truthState(d) !== "accepted");
  if (open) {
    const note = `${open.name} ${truthWords[truthState(open)][0]}.`;
    return { done: false, name, at: `#/datasets/${open.id}/edit`, note };
  }
  const note = "The server reads it, and says what is wrong with it.";
  return { done: datasets.length > 0, name, at: `#/tasks/${task.id}/datasets/new`, note };
}

/** noTeam says how teams come to a task that has none. Others see nothing at the address of a private task. */
export function noTeam(task: Pick<Task, "visibility" | "registration">): string {
  if (task.visibility === "private")
    return "There is no team yet. Invite those who might take part: the address of the task shows them nothing while it is private.";
  return task.registration?.mode === "closed"
    ? "There is no team yet. Invite those who might take part."
    : "There is no team yet. Send the address of the task to those who might take part, or invite them.";
}

/** headingOf returns the heading above the steps. Optional steps do not count as open. */
export function headingOf(task: Task, steps: Step[]): string {
  const open = steps.filter(s => !s.done && !s.optional).length;
  if (open === 0) return "The task is published";
  return open === 1 && task.visibility === "private" ? "Ready to be published" : "To do";
}

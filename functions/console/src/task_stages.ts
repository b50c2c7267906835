// The stages of tasks with their datasets, which may take submissions longer than the task.
import useSWR from "swr";
import type { Schemas } from "./api";
import { readAll } from "./data";
import { windowsOf } from "./instants";
import { chunks } from "./review_changes";
import { type Staged, stagedOf } from "./stage";
import { useFreshAt } from "./ui/clock";

type Task = Schemas["Task"];

const most = 50; // tasks that a filter takes

/**
 * useStages returns the stage of each task, and reads the screen again when it changes. Until the datasets of the tasks are read, it
 * returns undefined.
 */
export function useStages(tasks: Task[]): ((t: Task) => Staged) | undefined {
  const ids = tasks.map(t => t.id);
  const { data, error } = useSWR(
    ids.length > 0 && ["datasets", ids],
    async () => {
      const pages = chunks(ids, most).map(some =>
        readAll("/v1/datasets", { query: { "filter[taskId]": some, limit: 200 } }),
      );
      return (await Promise.all(pages)).flat();
    },
    { keepPreviousData: true },
  );
  const datasets = data ?? [];
  useFreshAt(windowsOf([...tasks, ...datasets]));
  if (ids.length > 0 && !data && !error) return undefined;
  return t =>
    stagedOf(
      t,
      datasets.filter(d => d.taskId === t.id),
    );
}

// The stages of tasks with their datasets, which may take submissions longer than the task.
import useSWR from "swr";
import type { Schemas } from "./api";
import { read, readAll } from "./data";
import { windowsOf } from "./instants";
import { allOver } from "./quota_words";
import { chunks } from "./review_changes";
import { registrationIn, useMe } from "./roles";
import { type Staged, stagedOf, withOwnWindows } from "./stage";
import { useFreshAt } from "./ui/clock";

type Task = Schemas["Task"];

const most = 50; // tasks that a filter takes

/**
 * useStages returns the stage of each task, and reads the screen again when it changes. Until the datasets of the tasks are read, it
 * returns undefined. own are the quotas of the reader's teams, whose windows count instead of those for all.
 */
export function useStages(tasks: Task[], own: Schemas["DatasetQuota"][] = []): ((t: Task) => Staged) | undefined {
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
  const datasets = withOwnWindows(data ?? [], own);
  useFreshAt(windowsOf([...tasks, ...datasets]));
  if (ids.length > 0 && !data && !error) return undefined;
  return t =>
    stagedOf(
      t,
      datasets.filter(d => d.taskId === t.id),
    );
}

/** OwnStaged is the stage of a task for the reader. over reports whether the task takes no more runs of the reader's team. */
export type OwnStaged = Staged & { over: boolean };

/** useOwnStages returns the stage of each task for the reader, whose accepted team may have later closes than others. */
export function useOwnStages(tasks: Task[]): ((t: Task) => OwnStaged) | undefined {
  const me = useMe();
  const teams = tasks
    .map(t => registrationIn(me, t.id))
    .filter(r => r?.state === "accepted")
    .map(r => ({ taskId: r!.taskId, registrationId: r!.registrationId }));
  const { data, error } = useSWR(
    teams.length > 0 && ["quotas", teams],
    () => Promise.all(teams.map(path => read("/v1/tasks/{taskId}/registrations/{registrationId}", { path }))),
    { keepPreviousData: true },
  );
  const stages = useStages(
    tasks,
    data?.flatMap(r => r.quota?.datasets ?? []),
  );
  if (!stages || (teams.length > 0 && !data && !error)) return undefined;
  return t => ({ ...stages(t), over: allOver(data?.find(r => r.taskId === t.id)?.quota) });
}

// What the organizers granted a team, in words.
import type { Schemas } from "./api";
import { count } from "./plural";

type Exception = Pick<Schemas["Exception"], "closesAt" | "perDay" | "total" | "runId" | "datasetId">;
type Task = Pick<Schemas["Task"], "submissions">;
type Dataset = Pick<Schemas["Dataset"], "id" | "name" | "submissions">;

/** Grant is one thing that an exception gives. The text continues with the instant at, if it has one. */
export type Grant = { said: string; at?: string };

/**
 * grantsOf returns what an exception gives the team now. A close that is no later than the close of others gives
 * nothing, and neither do runs beyond a limit that the dataset or the task no longer has. run is the name of the run that does not count in the quota.
 */
export function grantsOf(e: Exception, task: Task, datasets: Dataset[], run?: string): Grant[] {
  const all: Grant[] = [];
  const dataset = datasets.find(d => d.id === e.datasetId)?.name;
  const on = e.datasetId ? ` on ${dataset ?? "a dataset"}` : ", over all datasets together";
  if (e.closesAt && extendsClose(e, task, datasets))
    all.push({ said: `a later close of ${e.datasetId ? (dataset ?? "a dataset") : "all datasets"},`, at: e.closesAt });
  const limits = e.datasetId ? datasets.find(d => d.id === e.datasetId)?.submissions : task.submissions;
  if (e.perDay && limits?.perDay) all.push({ said: `${count(e.perDay, "run")} more in 24 hours${on}` });
  if (e.total && limits?.total) all.push({ said: `${count(e.total, "run")} more in all${on}` });
  if (e.runId) all.push({ said: `${run ? `the run ${run}` : "a run"}, which does not count in the quota` });
  return all;
}

/** extendsClose reports whether the close of an exception is later than the close that others have on one of its datasets. */
function extendsClose({ closesAt, datasetId }: Exception, task: Task, datasets: Dataset[]): boolean {
  return datasets
    .filter(d => !datasetId || d.id === datasetId)
    .map(d => d.submissions?.closesAt ?? task.submissions?.closesAt)
    .some(common => common !== undefined && Date.parse(common) < Date.parse(closesAt!));
}

// What the organizers granted a team, in words.
import type { Schemas } from "./api";
import { count } from "./plural";

type Exception = Pick<Schemas["Exception"], "closesAt" | "perDay" | "total" | "runId" | "datasetId">;
type Task = Pick<Schemas["Task"], "submissions">;
type Dataset = Pick<Schemas["Dataset"], "id" | "name" | "submissions">;

/** whenShown says when a team reads its exceptions. The console shows a rejected team none before it is accepted. */
export const whenShown = (state: Schemas["Registration"]["state"]): { granted: string; reason: string } =>
  state === "rejected"
    ? {
        granted: "Granted. The team is shown the exception, with the reason, only once you accept the team.",
        reason: "The team reads it only once you accept the team.",
      }
    : { granted: "Granted. The team is shown the exception, with the reason.", reason: "The team reads it." };

/** Grant is one thing that an exception gives. The text continues with the instant at, if it has one. */
export type Grant = { said: string; at?: string };

/**
 * givenBy returns the members of an exception that give the team something now. A close that is no later than the close of
 * others gives nothing, and neither do runs beyond a limit that the dataset or the task no longer has.
 */
function givenBy({ closesAt, perDay, total, runId, datasetId }: Exception, task: Task, datasets: Dataset[]): Exception {
  const limits = datasetId ? datasets.find(d => d.id === datasetId)?.submissions : task.submissions;
  return {
    ...(closesAt && extended({ closesAt, datasetId }, task, datasets).length > 0 && { closesAt }),
    ...(perDay && limits?.perDay && { perDay }),
    ...(total && limits?.total && { total }),
    ...(runId && { runId }),
  };
}

/** grantsOf returns what an exception gives the team now. run is the name of the run that does not count in the quota. */
export function grantsOf(e: Exception, task: Task, datasets: Dataset[], run?: string): Grant[] {
  const all: Grant[] = [];
  const { closesAt, perDay, total, runId } = givenBy(e, task, datasets);
  const dataset = datasets.find(d => d.id === e.datasetId)?.name;
  const on = e.datasetId ? ` on ${dataset ?? "a dataset"}` : ", over all datasets together";
  if (closesAt)
    all.push({ said: `a later close of ${e.datasetId ? (dataset ?? "a dataset") : "all datasets"},`, at: closesAt });
  if (perDay) all.push({ said: `${count(perDay, "run")} more in 24 hours${on}` });
  if (total) all.push({ said: `${count(total, "run")} more in all${on}` });
  if (runId) all.push({ said: `${run ? `the run ${run}` : "a run"}, which does not count in the quota` });
  return all;
}

/**
 * grantableAgain returns the part of a withdrawn exception that gives the team something now. others are the team's other
 * exceptions. It returns undefined if no part does, because the server refuses an exception that changes nothing. It also
 * returns undefined once a later close has passed, because the rest would leave runs late that were in time.
 */
export function grantableAgain(
  e: Exception,
  others: Exception[],
  task: Task,
  datasets: Dataset[],
  now = Date.now(),
): Exception | undefined {
  if (e.datasetId && !datasets.some(d => d.id === e.datasetId)) return undefined;
  const { closesAt, ...more } = givenBy(e, task, datasets);
  const again: Exception = more;
  if (closesAt && Date.parse(closesAt) <= now) return undefined;
  if (closesAt) {
    const beyond = (id: string): boolean =>
      others.every(o => !o.closesAt || (o.datasetId && o.datasetId !== id) || closesBefore(o.closesAt, closesAt));
    if (extended(e, task, datasets).some(beyond)) again.closesAt = closesAt;
  }
  return Object.keys(again).length > 0 ? { ...again, ...(e.datasetId && { datasetId: e.datasetId }) } : undefined;
}

/**
 * refundable returns the runs that count in the quota of a team, on the dataset if there is one. exceptions are those of the
 * team, which may have refunded runs already.
 */
export const refundable = <R extends Pick<Schemas["Run"], "id" | "state" | "datasetId">>(
  runs: R[],
  exceptions: Exception[],
  datasetId?: unknown,
): R[] =>
  runs.filter(
    r =>
      !["failed", "cancelled"].includes(r.state) &&
      (!datasetId || r.datasetId === datasetId) &&
      !exceptions.some(e => e.runId === r.id),
  );

/**
 * extended returns the ids of the datasets that close for others before an exception does. For a task without datasets, an
 * empty id stands for the task, whose close ends joining the team.
 */
function extended({ closesAt, datasetId }: Exception, task: Task, datasets: Dataset[]): string[] {
  if (!closesAt) return [];
  return (datasets.length > 0 ? datasets : [{ id: "", submissions: undefined }])
    .filter(d => !datasetId || d.id === datasetId)
    .filter(d => closesBefore(d.submissions?.closesAt ?? task.submissions?.closesAt, closesAt))
    .map(d => d.id);
}

const closesBefore = (close: string | undefined, at: string): boolean =>
  close !== undefined && Date.parse(close) < Date.parse(at);

// The teams of tasks, read once for a question to organizers.
import useSWR from "swr";
import type { Schemas } from "./api";
import { type Loading, loading, readAll } from "./data";
import type { Problem } from "./problem";

type Registration = Schemas["Registration"];
/** teamsIn returns all registrations for a task in a state. */
export const teamsIn = (taskId: string, state: Registration["state"]): Promise<Registration[]> =>
  readAll("/v1/tasks/{taskId}/registrations", { path: { taskId }, query: { "filter[state]": [state], limit: 200 } });

const most = 50; // users that a filter takes

/**
 * authorsOf returns the ids of the users who may have submitted the runs of a team: its members, and then those who left
 * it. Their runs still belong to the team.
 */
export const authorsOf = (r: Pick<Registration, "members" | "formerIds">): string[] =>
  [...new Set([...r.members, ...(r.formerIds ?? [])])].slice(0, most);

/** useRejected reads the registrations that the organizers rejected, by the id of the task. */
export function useRejected(taskIds: string[]): Loading<Map<string, Set<string>>> {
  const of = [...new Set(taskIds)].sort();
  return loading(
    useSWR<Map<string, Set<string>>, Problem>(of.length > 0 && ["rejected", ...of], () => rejectedTeams(of)),
  );
}

/** rejectedTeams returns the registrations that the organizers rejected, by the id of the task. */
async function rejectedTeams(taskIds: string[]): Promise<Map<string, Set<string>>> {
  const all = new Map<string, Set<string>>();
  for (const taskId of new Set(taskIds)) all.set(taskId, new Set((await teamsIn(taskId, "rejected")).map(r => r.id)));
  return all;
}

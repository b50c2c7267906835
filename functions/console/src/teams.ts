// The teams of tasks, read once for a question to organizers.
import { get, type Schemas } from "./api";
import { type Answer, read } from "./data";

type Registration = Schemas["Registration"];
type Page = Answer<"/v1/tasks/{taskId}/registrations"> | undefined;

/** teamsIn returns all registrations for a task in a state. */
export async function teamsIn(taskId: string, state: Registration["state"]): Promise<Registration[]> {
  const query = { "filter[state]": [state], limit: 200 };
  let page: Page = await read("/v1/tasks/{taskId}/registrations", { path: { taskId }, query });
  const all = page?.data ?? [];
  while (page?.links.next) {
    page = await get<Page>(page.links.next, {});
    all.push(...(page?.data ?? []));
  }
  return all;
}

/** rejectedTeams returns the names of the teams that the organizers rejected, by the id of the task. */
export async function rejectedTeams(taskIds: string[]): Promise<Map<string, Set<string>>> {
  const all = new Map<string, Set<string>>();
  for (const taskId of new Set(taskIds)) all.set(taskId, new Set((await teamsIn(taskId, "rejected")).map(r => r.team)));
  return all;
}

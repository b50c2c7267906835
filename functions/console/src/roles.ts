// The roles of the reader for tasks and organizers. Screens show only actions that the reader may take. The server
// decides in any case.
import type { Schemas } from "./api";
import { type Answer, useGet } from "./data";
import { useSession } from "./session";

export type Me = Answer<"/v1/user">;

/**
 * useMe returns the signed-in user. It returns undefined while the user is being read, and if nobody is signed in. again
 * returns in how many milliseconds the user is read again; 0: with the screen.
 */
export function useMe(again: (me: Me | undefined) => number = () => 0): Me | undefined {
  const { signedIn } = useSession();
  return useGet(signedIn ? "/v1/user" : null, {}, { refreshInterval: again }).data;
}

export const isAdmin = (me: Me | undefined): boolean => me?.roles.includes("admin") ?? false;

/** organizes reports whether the reader has the rights of the organizer's members. */
export const organizes = (me: Me | undefined, organizerId: string): boolean =>
  isAdmin(me) || Boolean(me?.memberships.some(m => m.organizerId === organizerId));

/** deletedTask returns the deleted task with the id, if the reader took part in it. */
export const deletedTask = (me: Me, taskId: string): NonNullable<Me["deletedTasks"]>[number] | undefined =>
  me.deletedTasks?.find(d => d.taskId === taskId);

/** endedIn returns the reader's former part in a team of the task, if somebody else ended it. */
export const endedIn = (
  me: Me | undefined,
  taskId: string,
): NonNullable<Me["endedRegistrations"]>[number] | undefined => me?.endedRegistrations?.find(e => e.taskId === taskId);

/** registrationIn returns the reader's registration for the task. */
export const registrationIn = (me: Me | undefined, taskId: string): Me["registrations"][number] | undefined =>
  me?.registrations.find(r => r.taskId === taskId);

/** useOwnTeam reads the registration of the reader's team in the task. mine is undefined if the reader has no team there. */
export function useOwnTeam(taskId: string): {
  mine: Me["registrations"][number] | undefined;
  team: Schemas["Registration"] | undefined;
} {
  const mine = registrationIn(useMe(), taskId);
  const path = { taskId, registrationId: mine?.registrationId ?? "" };
  const team = useGet(mine ? "/v1/tasks/{taskId}/registrations/{registrationId}" : null, { path }).data;
  return { mine, team };
}

// What the reader is to a task or an organizer, so that screens show only what they can do. The server decides in any
// case.
import { type Answer, useGet } from "./data";
import { useSession } from "./session";

export type Me = Answer<"/v1/user">;

/** useMe returns who is signed in; nobody while it is being read, or where nobody is. */
export function useMe(): Me | undefined {
  const { signedIn } = useSession();
  return useGet(signedIn ? "/v1/user" : null, {}).data;
}

export const isAdmin = (me: Me | undefined): boolean => me?.roles.includes("admin") ?? false;

/** organizes reports whether the reader acts for the organizer. */
export const organizes = (me: Me | undefined, organizerId: string): boolean =>
  isAdmin(me) || Boolean(me?.memberships.some(m => m.organizerId === organizerId));

/** registrationIn returns the reader's registration for the task. */
export const registrationIn = (me: Me | undefined, taskId: string): Me["registrations"][number] | undefined =>
  me?.registrations.find(r => r.taskId === taskId);

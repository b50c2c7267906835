// The names of resources that the page has read, for texts that name a resource by its id.
import { type Team, teamName } from "./team_name";

const names = new Map<string, string>();

type Named = { id?: unknown; name?: unknown; title?: unknown; label?: unknown; email?: unknown } & Partial<Team>;

/** learnNames stores the name of a resource, or the names of the resources of a list. */
export function learnNames(answer: unknown): void {
  if (typeof answer !== "object" || answer === null) return;
  const { data } = answer as { data?: unknown };
  for (const of of Array.isArray(data) ? data : [answer]) learn(of as Named);
}

function learn({ id, name, title, label, email, team, ...more }: Named): void {
  const known = [name, title, label, team && teamName({ ...more, team }), email].find(
    text => typeof text === "string" && text !== "",
  );
  if (typeof id === "string" && known) names.set(id, known as string);
}

/** knownName returns the name of the resource, or undefined if the page has not read the resource. */
export const knownName = (id: string): string | undefined => names.get(id);

/** personOf returns the name or the address of a user, or the end of the id of a user without both. */
export const personOf = ({ id, name, email }: { id: string; name?: string; email?: string }): string =>
  name || email || `User …${id.slice(-6)}`;

// Reading everything on the screen again, and telling it that something was done.
import { useSyncExternalStore } from "preact/compat";
import { type Key, type Middleware, mutate, SWRConfig } from "swr";
import { gone, type Problem, toProblem } from "./problem";

/** refresh reads everything on the screen again, after a change. */
export const refresh = (): Promise<unknown> => mutate(() => true);

let visit = 0;

/**
 * perVisit makes each visit of a screen read its own data, so that a screen shows nothing that was read before the reader
 * arrived. Only the user is the same for all visits, because all screens show the user.
 */
export const perVisit: Middleware = next => (key, fetcher, config) => next(ofVisit(key), fetcher, config);

/** ofVisit returns a key of SWR with the number of the visit. The keys of lists are functions of their pages. */
function ofVisit(key: Key): Key {
  if (typeof key === "function") return ((...page: []) => ofVisit(key(...page))) as Key;
  return Array.isArray(key) && key[1] !== "/v1/user" ? [...key, visit] : key;
}

/** arrived begins the visit of another screen, and drops the data of earlier visits. */
export function arrived(): void {
  visit++;
  const { cache } = SWRConfig.defaultValue;
  for (const key of [...cache.keys()]) if (!key.includes('"/v1/user"')) cache.delete(key);
}

/**
 * refusalOf returns the problem of a change that failed. If its resource is gone, refusalOf reads the screen again, which
 * may still show what was deleted or withheld meanwhile.
 */
export function refusalOf(error: unknown): Problem {
  const problem = toProblem(error);
  if (gone(problem)) void refresh();
  return problem;
}

let settled = 0;
const listeners = new Set<() => void>();

/**
 * settle tells the screen that the reader did something, or that somebody decided about the reader's team. It may be
 * what a refusal on the screen asks for.
 */
export function settle(): void {
  settled++;
  for (const tell of listeners) tell();
}

const subscribe = (tell: () => void): (() => void) => {
  listeners.add(tell);
  return () => listeners.delete(tell);
};

/** useSettled returns a number that changes with each settle. Refusals that were shown before it are outdated. */
export const useSettled = (): number => useSyncExternalStore(subscribe, () => settled);

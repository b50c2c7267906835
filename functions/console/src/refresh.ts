// Reading everything on the screen again, and telling it that something was done.
import { useSyncExternalStore } from "preact/compat";
import { mutate, SWRConfig } from "swr";
import { SWRGlobalState } from "swr/_internal";
import { gone, type Problem, toProblem } from "./problem";

/** refresh reads everything on the screen again, after a change. */
export const refresh = (): Promise<unknown> => mutate(() => true);

/**
 * forget drops what earlier screens read, so that a screen shows nothing that was read before the reader arrived. Only the
 * user stays, whom all screens show. SWR does not read a key again within two seconds after the last request, even if its
 * answer was dropped, so forget drops the requests, too.
 */
export function forget(): void {
  const { cache } = SWRConfig.defaultValue;
  const [, , requests] = SWRGlobalState.get(cache)!;
  for (const key of [...cache.keys()])
    if (!key.includes('"/v1/user"')) {
      cache.delete(key);
      delete requests[key];
    }
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

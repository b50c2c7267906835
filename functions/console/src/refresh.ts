// Reading everything on the screen again.
import { mutate } from "swr";
import { gone, type Problem, toProblem } from "./problem";

/** refresh reads everything on the screen again, after a change. */
export const refresh = (): Promise<unknown> => mutate(() => true);

/**
 * refusalOf returns the problem of a change that failed. If its resource is gone, refusalOf reads the screen again, which
 * may still show what was deleted or withheld meanwhile.
 */
export function refusalOf(error: unknown): Problem {
  const problem = toProblem(error);
  if (gone(problem)) void refresh();
  return problem;
}

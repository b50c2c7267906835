// Terms that change while a form shows them.
import { Problem, toProblem } from "./problem";

/** ofTerms reports whether a fault concerns accepted terms, of a registration or of one inside another body. */
const ofTerms = (e: { pointer: string }): boolean => e.pointer.endsWith("/acceptedTerms");

/**
 * withNewTerms waits for a request that accepts terms. If the request is refused because of its terms, withNewTerms
 * reads the terms again with reload, and throws a problem that asks for the acceptance of the new ones.
 */
export async function withNewTerms<T>(request: Promise<T>, reload: () => Promise<unknown>): Promise<T> {
  try {
    return await request;
  } catch (error) {
    const problem = toProblem(error);
    const errors = problem.document.errors ?? [];
    if (!errors.some(ofTerms)) throw error;
    await reload();
    throw new Problem({
      ...problem.document,
      errors: errors.map(e =>
        ofTerms(e)
          ? { pointer: "/acceptedTerms", detail: "The terms have changed. Read the new ones above, and accept them." }
          : e,
      ),
    });
  }
}

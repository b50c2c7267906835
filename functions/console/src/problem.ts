// Answers of the API that are errors.
import type { components } from "./api_types";
import { inWords } from "./member_names";

export type ProblemDocument = components["schemas"]["Problem"];

/**
 * Problem is an error with a problem document (RFC 9457), from the server or made in the browser. Its message has the
 * words of the browser.
 */
export class Problem extends Error {
  constructor(readonly document: Pick<ProblemDocument, "title" | "detail"> & Partial<ProblemDocument>) {
    super(inWords(document));
  }
  /** is reports whether the problem is of the kind, such as "precondition-failed". */
  is(kind: string): boolean {
    return this.document.type === `urn:assay:problem:${kind}`;
  }
}

/** gone reports whether a resource was deleted or withheld. */
export const gone = (error: Problem | undefined): boolean => [403, 404, 410].includes(error?.document.status ?? 0);

export const toProblem = (error: unknown): Problem =>
  error instanceof Problem
    ? error
    : new Problem({ title: "Something went wrong", detail: error instanceof Error ? error.message : String(error) });

/**
 * problemOf returns the problem of an answer with this status. The body is a problem document unless a proxy answered.
 */
export function problemOf(body: unknown, status: number): Problem {
  const document = typeof body === "object" && body !== null ? (body as ProblemDocument) : undefined;
  return new Problem(
    document?.detail ? document : { title: "Error", detail: `The server answered ${status}. Try again later.`, status },
  );
}

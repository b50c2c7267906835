// The terms of a task: whether a team must accept them, and terms that change while a form shows them.
import type { Schemas } from "./api";
import { Problem, toProblem } from "./problem";
import { allOver } from "./quota_words";

type OfTeam = {
  task: Pick<Schemas["Task"], "terms">;
  of: Pick<Schemas["Registration"], "state" | "acceptedTerms">;
};

/** asksForTerms reports whether a team must accept the present terms before it submits or restores. */
export const asksForTerms = ({ task, of: r }: OfTeam): boolean =>
  r.state !== "rejected" && task.terms !== undefined && r.acceptedTerms !== task.terms.version;

type Reader = { organizer: boolean; team: OfTeam["of"] | undefined };

/**
 * inputsNote says when the reader gets the files of a dataset that only teams get. It is empty for a reader who gets them.
 * The server does not tell other readers whether the dataset has files.
 */
export function inputsNote(
  { inputsFor }: Pick<Schemas["Dataset"], "inputsFor">,
  task: OfTeam["task"],
  { organizer, team: r }: Reader,
): string {
  if (inputsFor !== "registrants" || organizer) return "";
  const said = "Files that it has are only for teams that take part: they are here";
  if (!r) return `${said} once yours is accepted.`;
  if (r.state !== "accepted") return `${said} if the organizers accept yours.`;
  return asksForTerms({ task, of: r }) ? `${said} once yours has accepted the terms of the task.` : "";
}

type Asked = Pick<Schemas["Registration"], "acceptedTerms" | "quota">;

/** termsNotice says why a team is asked to accept terms. It speaks of submitting only while a dataset may take runs. */
export function termsNotice({ acceptedTerms, quota }: Asked, now = Date.now()): string {
  const asked = acceptedTerms ? "The terms of the task have changed." : "The task has terms.";
  const effect = allOver(quota, now)
    ? "No dataset of the task takes a run of your team any more, even if it accepts them."
    : "Your team can submit only after it has accepted them.";
  return `${asked} ${effect} One member accepts for all.`;
}

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

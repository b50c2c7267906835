// The decision of organizers whether teams take part.
import { effects, patch, type Schemas } from "../api";
import { read, readAll } from "../data";
import { inWords } from "../member_names";
import { count } from "../plural";
import { markedFinal } from "../publishing_question";
import { teamName } from "../team_name";
import { authorsOf } from "../teams";
import { Action } from "./show";
import { say } from "./status";

type Registration = Schemas["Registration"];
type State = Registration["state"];
const ofRegistration = "/v1/tasks/{taskId}/registrations/{registrationId}";

/** stateKinds maps the state of a registration to the kind of its tag. */
export const stateKinds = { accepted: "good", pending: "warm", rejected: "bad" } as const;

/** peopleOf returns the members of a team with their names. */
export const peopleOf = (r: Registration): Schemas["Person"][] => r.people ?? (r.user ? [r.user] : []);

type Decided = Pick<Registration, "id" | "taskId" | "team" | "state"> & { alias?: string; anonymous?: boolean };

/**
 * decide sets the state of registrations, and offers to undo it. It changes no registration that another organizer has
 * decided since the reader saw its state.
 */
export async function decide(
  rs: Decided[],
  state: Registration["state"],
  changed: () => Promise<unknown>,
): Promise<void> {
  const set = async (from: (r: Decided) => State, to: (r: Decided) => State): Promise<void> => {
    try {
      for (const r of rs) await setState(r, from(r), to(r));
    } finally {
      await changed(); // Some may have changed before one failed.
    }
  };
  await set(
    r => r.state,
    () => state,
  );
  say(`${rs.length === 1 ? teamName(rs[0]!) : `${rs.length} teams`} ${state}.`, () =>
    set(
      () => state,
      r => r.state,
    ),
  );
}

/** setState changes the state of a registration, unless the registration no longer has the state from. */
async function setState(r: Decided, from: State, to: State): Promise<void> {
  const ids = { taskId: r.taskId, registrationId: r.id };
  const now = await read(ofRegistration, { path: ids });
  if (now.state !== from) throw new Error(otherwise(now));
  await patch(ofRegistration, ids, { state: to }, now);
}

/** otherwise says that another organizer has decided about a team meanwhile. */
export const otherwise = (now: Pick<Registration, "team" | "alias" | "anonymous" | "state">): string =>
  now.state === "pending"
    ? `Somebody else reopened the decision about ${teamName(now)}. Nothing was changed: look at the team, and decide again.`
    : `Somebody else ${now.state} ${teamName(now)} meanwhile. Nothing was changed. Open the page of the team to decide again.`;

/** lostBy returns what organizers are asked before they reject a team that takes part. */
async function lostBy(r: Registration): Promise<string> {
  const runs = await read("/v1/runs", {
    query: { "filter[taskId]": [r.taskId], "filter[userId]": authorsOf(r), limit: 200 },
  });
  const ids = { taskId: r.taskId, registrationId: r.id };
  const kept = (await effects("PATCH", ofRegistration, ids, { state: "rejected" })).filter(e => e.kind === "audience");
  const own = runs?.data.filter(o => o.registrationId === r.id) ?? [];
  const more = runs?.links.next ? "at least " : "";
  const datasets = await readAll("/v1/datasets", { query: { "filter[taskId]": [r.taskId], limit: 200 } });
  const choosable = own.filter(o => datasets.some(d => d.id === o.datasetId && d.finalRuns));
  const finals = choosable.length > 0 ? choosable.filter(o => o.final).length : undefined;
  return (
    `Reject ${teamName(r)}, which takes part? It can no longer submit. Its page says so. ` +
    `It has ${more}${count(own.length, "run")}${markedFinal(finals)}. ${kept.map(e => inWords(e)).join(" ")}` +
    (kept.length > 0 ? " To hide them, unpublish the runs." : "")
  );
}

/** Decide has the buttons for decisions about a team: open decisions, or all, such as rejecting an accepted team. */
export const Decide = ({
  of: r,
  changed,
  all,
}: {
  of: Registration;
  changed: () => Promise<unknown>;
  all?: boolean;
}) => (
  <>
    {r.state !== "accepted" && (
      <Action plain label={`Accept ${teamName(r)}`} run={() => decide([r], "accepted", changed)}>
        Accept
      </Action>
    )}
    {(all ? r.state !== "rejected" : r.state === "pending") && (
      <Action
        plain
        label={`Reject ${teamName(r)}`}
        ask={r.state === "accepted" && (() => lostBy(r))}
        run={() => decide([r], "rejected", changed)}
      >
        Reject
      </Action>
    )}
  </>
);

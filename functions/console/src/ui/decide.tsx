// The decision of organizers whether teams take part.
import { patch, type Schemas } from "../api";
import { read } from "../data";
import { count } from "../plural";
import { Action } from "./show";
import { say } from "./status";

type Registration = Schemas["Registration"];

/** stateKinds maps the state of a registration to the kind of its tag. */
export const stateKinds = { accepted: "good", pending: "warm", rejected: "bad" } as const;

/** peopleOf returns the members of a team with their names. */
export const peopleOf = (r: Registration): Schemas["Person"][] => r.people ?? (r.user ? [r.user] : []);

/** decide sets the state of registrations, and offers to undo it. */
export async function decide(
  rs: Pick<Registration, "id" | "taskId" | "team" | "state">[],
  state: Registration["state"],
  changed: () => Promise<unknown>,
): Promise<void> {
  const set = async (to: (r: { state: string }) => string): Promise<void> => {
    try {
      for (const r of rs)
        await patch(
          "/v1/tasks/{taskId}/registrations/{registrationId}",
          { taskId: r.taskId, registrationId: r.id },
          { state: to(r) },
        );
    } finally {
      await changed(); // Some may have changed before one failed.
    }
  };
  await set(() => state);
  say(`${rs.length === 1 ? rs[0]!.team : `${rs.length} teams`} ${state}.`, () => set(r => r.state));
}

/** lostBy returns what organizers are asked before they reject a team that takes part. */
async function lostBy(r: Registration): Promise<string> {
  const runs = await read("/v1/runs", {
    query: { "filter[taskId]": [r.taskId], "filter[userId]": r.members.slice(0, 50), limit: 200 },
  });
  const own = runs?.data.filter(o => o.team === r.team) ?? [];
  const more = runs?.links.next ? "at least " : "";
  const finals = own.filter(o => o.final).length;
  return (
    `Reject ${r.team}, which takes part? It can no longer submit, and its ${count(r.members.length, "member")} ` +
    `${r.members.length === 1 ? "is" : "are"} told. It has ${more}${count(own.length, "run")}, ` +
    `${finals || "none"} marked as final. What is published stays published.`
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
      <Action plain label={`Accept ${r.team}`} run={() => decide([r], "accepted", changed)}>
        Accept
      </Action>
    )}
    {(all ? r.state !== "rejected" : r.state === "pending") && (
      <Action
        plain
        label={`Reject ${r.team}`}
        ask={r.state === "accepted" && (() => lostBy(r))}
        run={() => decide([r], "rejected", changed)}
      >
        Reject
      </Action>
    )}
  </>
);

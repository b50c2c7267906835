// The decision of organizers whether teams take part.
import { patch, type Schemas } from "../api";
import { Action } from "./show";
import { say } from "./status";

type Registration = Schemas["Registration"];

/** stateKinds says how the state of a registration is marked. */
export const stateKinds = { accepted: "good", pending: "warm", rejected: "bad" } as const;

/** peopleOf are the members of a team by name. */
export const peopleOf = (r: Registration): Schemas["Person"][] => r.people ?? (r.user ? [r.user] : []);

/** decide sets the state of registrations, which can be undone. */
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
      await changed(); // also what was done before one failed
    }
  };
  await set(() => state);
  say(`${rs.length === 1 ? rs[0]!.team : `${rs.length} teams`} ${state}.`, () => set(r => r.state));
}

/** Decide has the decisions about a team: those that are left, or all, such as to reject one that was accepted. */
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
      <Action plain label={`Reject ${r.team}`} run={() => decide([r], "rejected", changed)}>
        Reject
      </Action>
    )}
  </>
);

// What became of a team in which the reader took part until somebody else ended that.
import type { Me } from "../roles";
import { When } from "./time";

/** Ended tells the reader who deleted their team's registration or removed them from the team. */
export function Ended({ of: e, named }: { of: NonNullable<Me["endedRegistrations"]>[number]; named?: boolean }) {
  const by = e.byOrganizers ? "The organizers" : "The owner of the team";
  return (
    <p class="notice">
      {by} {e.removed ? "removed you from the team" : "deleted the registration of the team"} <bdi>{e.team}</bdi>
      {named && (
        <>
          {" "}
          in <bdi>{e.taskName ?? "a task"}</bdi>
        </>
      )}
      , <When at={e.endedAt} />. You do not take part {named ? "in the task " : ""}any more.
    </p>
  );
}

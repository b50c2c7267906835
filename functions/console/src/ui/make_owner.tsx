// Making another member the owner of a team, for its owner and the organizers.
import { patch, type Schemas } from "../api";
import { done } from "../data";
import { Action } from "./show";

type Props = { of: Schemas["Registration"]; userId: string; name: string };

/** MakeOwner hands a team over to a member. Callers show it neither for the owner nor for a rejected team. */
export const MakeOwner = ({ of: r, userId, name }: Props) => (
  <Action
    plain
    label={`Make owner: ${name}`}
    ask="Only they and the organizers can undo that. Open invitations to the team end."
    run={() =>
      done(
        patch(
          "/v1/tasks/{taskId}/registrations/{registrationId}",
          { taskId: r.taskId, registrationId: r.id },
          { userId },
          r,
        ),
        "The team has a new owner.",
      )
    }
  >
    Make owner
  </Action>
);

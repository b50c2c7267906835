// The fields that a new submission and the page of its run share.
import { Area, Choice } from "./fields";
import type { Editing } from "./form";

/** Fields belong to a form for a submission of a team, or for a baseline of the organizers without a team. */
type Fields = { f: Editing; baseline: boolean };

export const Notes = ({ f, baseline }: Fields) => (
  <Area
    f={f}
    name="notes"
    label="Notes"
    rows={2}
    hint={baseline ? "Only you see them." : "Only your team sees them."}
  />
);

export const Audience = ({ f, baseline }: Fields) => (
  <Choice
    f={f}
    name="visibility"
    label="Who sees the submission"
    options={{
      private: baseline ? "Only the organizers" : "Your team and the organizers",
      public: "Everyone who sees the task",
    }}
  />
);

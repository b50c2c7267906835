// The fields that a new submission and the page of its run share.
import { Area, Choice } from "./fields";
import type { Editing } from "./form";

/** Fields belong to a form for a submission of a team, or for a baseline of the organizers without a team. */
type Fields = { f: Editing; baseline: boolean };

/** OfTeam has the alias of a team that is anonymous, and an empty one otherwise. */
type OfTeam = { f: Editing; alias: string };

export const Description = ({ f, alias }: OfTeam) => (
  <Area
    f={f}
    name="description"
    label="Description"
    rows={2}
    hint={
      alias
        ? "Markdown, for your team and the organizers while your team is anonymous."
        : "Markdown, for those who see the submission."
    }
  />
);

export const Notes = ({ f, baseline }: Fields) => (
  <Area
    f={f}
    name="notes"
    label="Notes"
    rows={2}
    hint={baseline ? "Only you see them." : "Only your team sees them."}
  />
);

export const Audience = ({ f, baseline, alias }: Fields & OfTeam) => (
  <Choice
    f={f}
    name="visibility"
    label="Who sees the submission"
    options={{
      private: baseline ? "Only the organizers" : "Your team and the organizers",
      public: "Everyone who sees the task",
    }}
    hint={
      alias &&
      `While your team is anonymous, others see the alias ${alias}, and neither title, description nor paper in any case.`
    }
  />
);

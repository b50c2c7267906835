// The sections of a task that organizers edit, each with its fields and the members that it edits.

import type { ComponentChildren } from "preact";
import type { Schemas } from "../api";
import { choiceLabels, fieldLabels } from "../field_labels";
import { submissionTypes } from "../stage";
import { Checks, Choice, Instant, Text, Whole } from "../ui/fields";
import type { Editing } from "../ui/form";
import { MarkdownField } from "../ui/markdown_field";
import type { Values } from "../ui/values";

export type Part = {
  name: string;
  title: string;
  of: (t: Schemas["Task"]) => Values;
  fields: (f: Editing) => ComponentChildren;
  about?: string;
};

export const parts: Part[] = [
  {
    name: "about",
    title: "About the task",
    of: t => ({ name: t.name, description: t.description || undefined, website: t.website }),
    fields: f => (
      <>
        <Text f={f} name="name" label="Name" required max={200} />
        <MarkdownField f={f} name="description" label="Description" />
        <Text f={f} name="website" type="url" label="Website" max={500} />
      </>
    ),
  },
  {
    name: "registration",
    title: "Registration",
    of: t => ({
      registration: {
        mode: t.registration?.mode ?? "open",
        opensAt: t.registration?.opensAt,
        closesAt: t.registration?.closesAt,
      },
    }),
    fields: f => (
      <>
        <Choice f={f} name="registration/mode" label="Who can take part" options={choiceLabels.mode!} />
        <Window f={f} of="registration" opens="Registration opens" closes="Registration closes" />
      </>
    ),
  },
  {
    name: "submissions",
    title: "Submissions",
    of: t => ({
      submissions: {
        opensAt: t.submissions?.opensAt,
        closesAt: t.submissions?.closesAt,
        perDay: t.submissions?.perDay || undefined,
        total: t.submissions?.total || undefined,
        types: submissionTypes(t),
      },
    }),
    fields: f => (
      <>
        <Window f={f} of="submissions" opens="Submissions open" closes="Submissions close" />
        <Limits f={f} />
        <Checks
          f={f}
          name="submissions/types"
          label="What teams submit"
          hint="Images and repositories are executed by workers, which you or the platform run. With none ticked, all are taken."
          options={{
            upload: "Files: runs that they made themselves",
            image: "Container images",
            repository: "Repositories",
          }}
        />
      </>
    ),
  },
  {
    name: "terms",
    title: "Terms",
    about:
      "What teams accept when they register. Saving another text makes a new version: teams can then submit only after they have accepted it. An empty text: there are none.",
    of: t => ({ terms: { text: t.terms?.text ?? "" } }),
    fields: f => <MarkdownField f={f} name="terms/text" label="Text of the terms" />,
  },
];

/** Window has the fields of the window of a task or a dataset. */
export const Window = ({
  f,
  of,
  opens,
  closes,
  hint = "Left out: without limit.",
}: {
  f: Editing;
  of: string;
  opens: string;
  closes: string;
  hint?: string;
}) => (
  <div class="sides">
    <Instant f={f} name={`${of}/opensAt`} label={opens} hint={hint} />
    <Instant f={f} name={`${of}/closesAt`} label={closes} hint={hint} />
  </div>
);

/** Limits has the fields of the quota of a team. */
export const Limits = ({ f, hint = "Left out: without limit." }: { f: Editing; hint?: string }) => (
  <div class="sides">
    <Whole f={f} name="submissions/perDay" label={fieldLabels.perDay} min={1} hint={hint} />
    <Whole f={f} name="submissions/total" label={fieldLabels.total} min={1} hint={hint} />
  </div>
);

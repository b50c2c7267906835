// The fields of a team, when it registers and later.
import type { Schemas } from "../api";
import { Check, Faults, Text } from "./fields";
import type { Editing } from "./form";
import { Markdown } from "./lazy";

export const TeamFields = ({ f }: { f: Editing }) => (
  <>
    <Text
      f={f}
      name="team"
      label="Name of your team"
      required
      max={100}
      hint="Shown on the leaderboard. If you work alone, your name is fine."
    />
    <Check
      f={f}
      name="anonymous"
      label="Stay anonymous"
      hint="Everyone but the organizers and your team sees an alias, until you untick this. Your affiliation, and the titles, descriptions and papers of your submissions, are hidden too."
    />
    <Text f={f} name="affiliation" label="Affiliation" max={200} />
    <Text f={f} name="country" label="Country" max={100} />
    <Text f={f} name="contact" label="Contact" max={200} hint="Only your team and the organizers see it." />
  </>
);

/** TermsField shows the terms of a task. Accepting them sets acceptedTerms to their version. */
export const TermsField = ({ f, terms }: { f: Editing; terms: Schemas["Terms"] | undefined }) =>
  terms ? (
    <fieldset class="field" data-field="acceptedTerms">
      <legend>Terms of the task, version {terms.version}</legend>
      <div class="notice" tabIndex={0} role="group" aria-label="Terms">
        <Markdown source={terms.text} />
      </div>
      <label>
        <input
          type="checkbox"
          required
          checked={f.values.acceptedTerms === terms.version}
          onChange={e => f.set("acceptedTerms", e.currentTarget.checked ? terms.version : undefined)}
        />
        I accept these terms
      </label>
      <Faults f={f} name="acceptedTerms" />
    </fieldset>
  ) : null;

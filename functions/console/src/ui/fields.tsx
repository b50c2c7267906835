// The fields of forms. Each names the member that it edits, has a label and a hint, and shows the faults of the member.
import { type ComponentChildren, Fragment, type JSX } from "preact";
import { inWords } from "../member_names";
import { said } from "../value_words";
import type { Editing } from "./form";
import { fromLocal, toLocal, zone } from "./time";
import { member, same, within } from "./values";

type Common = { f: Editing; name: string; label: string; hint?: ComponentChildren; required?: boolean };
type Aria = { id: string; "aria-describedby"?: string; "aria-invalid"?: boolean; required?: boolean };

/** Field is the frame of a field: label, control, hint, faults, and what somebody else saved. */
export function Field({
  f,
  name,
  label,
  hint,
  required,
  children,
}: Common & { children: (aria: Aria) => JSX.Element }) {
  const aria = ariaOf({ f, name, hint, required });
  return (
    <div class="field" data-field={name}>
      <label for={aria.id}>{label}</label>
      {children(aria)}
      {hint && (
        <p id={`${aria.id}-hint`} class="hint">
          {hint}
        </p>
      )}
      <Faults f={f} name={name} id={`${aria.id}-fault`} />
    </div>
  );
}

/** ariaOf connects a control with its hint and its faults. */
function ariaOf({ f, name, hint, required }: Omit<Common, "label">): Aria {
  const id = `${f.id}-${name.replaceAll("/", "-")}`;
  const faulty = faultsOf(f, name).length > 0;
  const described = [hint && `${id}-hint`, faulty && `${id}-fault`].filter(Boolean).join(" ");
  return {
    id,
    ...(described && { "aria-describedby": described }),
    ...(faulty && { "aria-invalid": true }),
    ...(required && { required }),
  };
}

const faultsOf = (f: Editing, name: string): Editing["faults"] => f.faults.filter(e => within(e, name));

/** Faults shows the faults of a member, and the value that somebody else saved. */
export const Faults = ({ f, name, id }: { f: Editing; name: string; id?: string }) => {
  const faults = faultsOf(f, name);
  return (
    <>
      {faults.length > 0 && (
        <p id={id} class="fault">
          {faults.map((e, i) => (
            <Fragment key={i}>
              {i > 0 && <br />}
              {inWords(e)}
            </Fragment>
          ))}
        </p>
      )}
      {name in f.theirs && !same(f.theirs[name], member(f.values, name)) && (
        <p class="fault">
          Somebody else saved: <bdi>{said(f.theirs[name]) || "nothing"}</bdi>.{" "}
          <button type="button" class="plain" onClick={() => f.set(name, f.theirs[name])}>
            Use theirs
          </button>
        </p>
      )}
    </>
  );
};

const text = (f: Editing, name: string): string => String(member(f.values, name) ?? "");

/** Text edits a line. It adds https:// to an address without a scheme. */
export const Text = ({
  type = "text",
  max,
  autocomplete,
  ...field
}: Common & { type?: string; max?: number; autocomplete?: AutoFill }) => {
  const { f, name } = field;
  const complete = (value: string): void => {
    // This is the handler of the DOM event change. With preact/compat, onChange runs for each key.
    const entered = value.trim();
    const isHost = /^[^\s/:]+\.[^\s/:]+(:\d+)?(\/\S*)?$/.test(entered); // Other texts get the faults of what was typed.
    if (type === "url" && isHost) f.set(name, `https://${entered}`);
  };
  return (
    <Field {...field}>
      {aria => (
        <input
          {...aria}
          type={type}
          maxLength={max}
          autocomplete={autocomplete ?? "off"}
          value={text(f, name)}
          onInput={e => f.set(name, e.currentTarget.value)}
          onChangeCapture={e => complete(e.currentTarget.value)}
        />
      )}
    </Field>
  );
};

export const Area = ({ rows = 4, ...field }: Common & { rows?: number }) => (
  <Field {...field}>
    {aria => (
      <textarea
        {...aria}
        rows={rows}
        value={text(field.f, field.name)}
        onInput={e => field.f.set(field.name, e.currentTarget.value)}
      />
    )}
  </Field>
);

/** Whole edits a whole number. An empty field leaves the member out. */
export const Whole = ({ min = 0, max, ...field }: Common & { min?: number; max?: number }) => (
  <Field {...field}>
    {aria => (
      <input
        {...aria}
        type="number"
        min={min}
        max={max}
        value={text(field.f, field.name)}
        onInput={e => field.f.set(field.name, e.currentTarget.value === "" ? undefined : Number(e.currentTarget.value))}
      />
    )}
  </Field>
);

/** Instant edits an instant in the zone of the reader. */
export const Instant = ({ hint, ...field }: Common) => (
  <Field
    {...field}
    hint={
      <>
        {hint} In your zone, {zone}.
      </>
    }
  >
    {aria => {
      const value = toLocal(member(field.f.values, field.name) as string | undefined);
      return (
        <input
          {...aria}
          type="datetime-local"
          step={value.length > 16 ? 1 : undefined} // Without it, browsers refuse seconds.
          value={value}
          onInput={e => field.f.set(field.name, fromLocal(e.currentTarget.value))}
        />
      );
    }}
  </Field>
);

export const Choice = ({ options, ...field }: Common & { options: Record<string, string> }) => (
  <Field {...field}>
    {aria => (
      <select
        {...aria}
        value={text(field.f, field.name)}
        onChange={e => field.f.set(field.name, e.currentTarget.value)}
      >
        {Object.entries(options).map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    )}
  </Field>
);

/** Check edits a member that is true or absent. */
export const Check = ({ f, name, label, hint, required }: Common) => {
  const aria = ariaOf({ f, name, hint, required });
  return (
    <div class="field check" data-field={name}>
      <label for={aria.id}>
        <input
          {...aria}
          type="checkbox"
          checked={Boolean(member(f.values, name))}
          onChange={e => f.set(name, e.currentTarget.checked || undefined)}
        />
        {label}
      </label>
      {hint && (
        <p id={`${aria.id}-hint`} class="hint">
          {hint}
        </p>
      )}
      <Faults f={f} name={name} id={`${aria.id}-fault`} />
    </div>
  );
};

/** Checks edits a list of some of the options. */
export const Checks = ({ f, name, label, options, hint }: Common & { options: Record<string, string> }) => {
  const chosen = (member(f.values, name) as string[] | undefined) ?? [];
  const aria = ariaOf({ f, name, hint });
  return (
    <fieldset class="field" data-field={name} aria-describedby={aria["aria-describedby"]}>
      <legend>{label}</legend>
      {hint && (
        <p id={`${aria.id}-hint`} class="hint">
          {hint}
        </p>
      )}
      {Object.entries(options).map(([value, said]) => (
        <label key={value}>
          <input
            type="checkbox"
            checked={chosen.includes(value)}
            onChange={e => f.set(name, e.currentTarget.checked ? [...chosen, value] : chosen.filter(c => c !== value))}
          />
          {said}
        </label>
      ))}
      <Faults f={f} name={name} id={`${aria.id}-fault`} />
    </fieldset>
  );
};

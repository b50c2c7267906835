// The field of when others than the organizers see columns: at once, after a publication or a close, or from an instant.
import { type FromKind, fromLabels, kindOf } from "../column_rules";
import { Choice, Instant } from "./fields";
import type { Editing } from "./form";
import { withMember } from "./values";

type Props = {
  f: Editing;
  name: string;
  label: string;
  hint?: string;
  /** value is the from, or undefined if the columns differ. */
  value: string | undefined;
  set: (from: string) => void;
  /** elsewhere says that another field asks for the instant of the columns. */
  elsewhere?: boolean;
};

/** differ is the choice for columns that differ. It is offered only while they do. */
const differ = { differ: "Different for each measure: see the measures above" };

export function FromField({ f, name, label, hint, value, set, elsewhere = false }: Props) {
  const kind: FromKind | "differ" = value === undefined ? "differ" : kindOf(value);
  const at = `${name}/instant`;
  // As a value, the kind instant stands for an instant that is not entered yet. Browsers do not send the form without one.
  const instant = value === "instant" ? undefined : value;
  return (
    <>
      <Choice
        f={{ ...f, values: withMember(f.values, name, kind), set: (_, chosen) => set(String(chosen)) }}
        name={name}
        label={label}
        options={value === undefined ? { ...differ, ...fromLabels } : fromLabels}
        {...(hint && { hint })}
      />
      {kind === "instant" && (
        <Instant
          f={{ ...f, values: withMember({}, at, instant), set: (_, entered) => set(String(entered ?? "instant")) }}
          name={at}
          label="Shown from"
          required={!elsewhere}
        />
      )}
    </>
  );
}

// The field of a dataset's measures. The reader chooses them from the server's catalogue, and says how leaderboards show them.
import { Fragment } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Schemas } from "../api";
import { audienceLabels, commonFrom } from "../column_rules";
import { type Column, columnsIn, moved, withMeasure } from "../columns";
import { useGet } from "../data";
import { inWords } from "../member_names";
import { Select } from "./choices";
import { Check, Choice, Faults, Field, Text, Whole } from "./fields";
import type { Editing } from "./form";
import { FromField } from "./from_field";
import { exampleOf, familyOf } from "./measures";
import { say } from "./status";
import { member, same, within, withMember } from "./values";

type Family = Schemas["Family"];
const path = "evaluator/measures";

export function MeasuresField({ f }: { f: Editing }) {
  const [next, setNext] = useState("");
  const toFocus = useRef<string>();
  const info = useGet("/info", {}).data;
  const kind = String(member(f.values, "evaluator/kind"));
  const families = info?.measures[kind] ?? [];
  const evaluator = info?.evaluators.find(e => e.kind === kind);
  const chosen = (member(f.values, path) as string[] | undefined) ?? [];
  const columns = columnsIn(f.values);
  const add = (): void => {
    const key = next.trim();
    if (key && !chosen.includes(key)) {
      f.set(path, [...chosen, key]);
      f.set("columns", withMeasure(columns, key));
    }
    setNext("");
  };
  const drop = (key: string): void => {
    f.set(
      path,
      chosen.filter(c => c !== key),
    );
    f.set(
      "columns",
      columns.filter(c => c.key !== key),
    );
  };
  // The order of evaluator/measures stays: if it changed, every run would be evaluated again.
  const move = (from: number, by: -1 | 1): void => {
    const to = from + by;
    if (to < 0 || to >= columns.length) return;
    f.set("columns", moved(columns, from, by));
    toFocus.current = moverId(f, to, by);
    say(`${columns[from]!.key} is number ${to + 1} of ${columns.length}${to === 0 ? ", and ranks" : ""}.`);
  };
  // The button moves with its row, and would lose the focus.
  useLayoutEffect(() => {
    if (toFocus.current) document.getElementById(toFocus.current)?.focus();
    toFocus.current = undefined;
  });
  const choose = (name: string): void => {
    const family = families.find(m => m.name === name);
    setNext(family ? exampleOf(family) : "");
  };
  const typed = familyOf(families, next);
  return (
    <>
      <fieldset class="field" data-field="columns">
        <legend>Measures</legend>
        <p class="hint">
          Leaderboards show them in this order, and the first ranks. If it is not for everyone, others rank by the first
          that is. A new order takes effect without evaluating runs again.
        </p>
        <ol class="rows">
          {columns.map((c, i) => (
            <MeasureRow
              key={c.key}
              f={f}
              columns={columns}
              at={i}
              family={familyOf(families, c.key)}
              move={by => move(i, by)}
              drop={() => drop(c.key)}
            />
          ))}
        </ol>
        <Faults f={only(f, "/columns")} name="columns" />
      </fieldset>
      {families.length > 0 && (
        <Select
          id={`${f.id}-family`}
          label="Choose another measure"
          value={typed?.name ?? ""}
          choose={choose}
          options={{ "": "–", ...Object.fromEntries(families.map(m => [m.name, `${m.name}: ${m.definition}`])) }}
        />
      )}
      <Field
        f={only(f, `/${path}`)}
        name={path}
        label="Add a measure"
        hint={<Grammar of={typed} families={families} />}
      >
        {aria => (
          <span class="joined">
            <input
              {...aria}
              value={next}
              maxLength={200}
              autocomplete="off"
              onInput={e => setNext(e.currentTarget.value)}
              onKeyDown={e => {
                if (e.key !== "Enter") return;
                e.preventDefault();
                add();
              }}
            />
            <button type="button" class="plain" disabled={!next.trim()} onClick={add}>
              Add
            </button>
          </span>
        )}
      </Field>
      {evaluator && (
        <details class="hint">
          <summary>Conventions and limits</summary>
          <ul>
            {evaluator.conventions.map(c => (
              <li key={c}>{c}</li>
            ))}
          </ul>
          <ul>
            {evaluator.limits.map(l => (
              <li key={l.of}>
                At most {l.most.toLocaleString("en")} {l.of}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

/** only returns the form with only the faults of exactly this member. Rows show those of its parts. */
const only = (f: Editing, pointer: string): Editing => ({
  ...f,
  faults: f.faults.filter(e => e.pointer === pointer),
});

const moverId = (f: Editing, at: number, by: -1 | 1): string => `${f.id}-column-${at}-${by < 0 ? "up" : "down"}`;

type Row = {
  f: Editing;
  columns: Column[];
  at: number;
  family: Family | undefined;
  move: (by: -1 | 1) => void;
  drop: () => void;
};

/** MeasureRow shows a measure, moves or removes it, and has the fields of its column. */
function MeasureRow({ f, columns, at, family, move, drop }: Row) {
  const { key, audience = "everyone", from = "now" } = columns[at]!;
  const column = `columns/${at}`;
  const worker = member(f.values, "evaluator/kind") === "worker";
  const seen = audience !== "organizers";
  const fields = ["title", "decimals", "group", "audience", seen && "from", worker && "lowerIsBetter"].filter(Boolean);
  const inFields = f.faults.filter(e => fields.some(name => within(e, `${column}/${name}`)));
  const measure = `${path}/${(member(f.values, path) as string[]).indexOf(key)}`;
  const faults = f.faults.filter(e => within(e, measure) || (within(e, column) && !inFields.includes(e)));
  const set = (name: string, value: unknown): void => {
    // Columns that another change has left behind the measures would have other positions.
    if (!same(columns, f.values.columns)) f.set("columns", columns);
    f.set(name, value === "" ? undefined : value);
  };
  const form = { ...f, values: { ...f.values, columns }, set };
  const choose = (name: string, value: unknown): void => set(name, value === "everyone" ? undefined : value);
  const faultId = `${f.id}-column-${at}-fault`;
  return (
    <li>
      <div>
        <code>{key}</code> {at === 0 && <span class="small">(ranks)</span>}{" "}
        <span class="small quiet">
          {family?.definition}
          {family?.higherIsBetter === false && " Lower is better."}
        </span>
        {faults.length > 0 && (
          <p id={faultId} class="fault" tabIndex={-1}>
            {faults.map(e => (
              <Fragment key={e.pointer}>
                {e !== faults[0] && <br />}
                {inWords(e)}
              </Fragment>
            ))}
          </p>
        )}
      </div>
      <Mover id={moverId(f, at, -1)} label={`Move ${key} up`} over={at === 0} move={() => move(-1)}>
        Up
      </Mover>
      <Mover id={moverId(f, at, 1)} label={`Move ${key} down`} over={at === columns.length - 1} move={() => move(1)}>
        Down
      </Mover>
      <button
        type="button"
        class="plain"
        aria-label={`Remove ${key}`}
        aria-describedby={faults.length > 0 ? faultId : undefined}
        disabled={columns.length < 2}
        onClick={drop}
      >
        Remove
      </button>
      <details>
        <summary>
          How leaderboards show it<span class="hidden">: {key}</span>
        </summary>
        <Text f={form} name={`${column}/title`} label="Title" max={80} hint={`Left out: ${key}.`} />
        <Whole f={form} name={`${column}/decimals`} label="Decimals" max={12} hint="Left out: four." />
        <Text
          f={form}
          name={`${column}/group`}
          label="Group"
          max={80}
          hint="A heading over adjacent columns with the same group."
        />
        <Choice
          f={{ ...form, values: withMember(form.values, `${column}/audience`, audience), set: choose }}
          name={`${column}/audience`}
          label="Who sees it"
          options={audienceLabels}
          hint="Besides the organizers, once the review of a run shows it to them."
        />
        {seen && (
          <FromField
            f={form}
            name={`${column}/from`}
            label="From"
            value={from}
            elsewhere={commonFrom(columns) === "instant"}
            set={chosen => set(`${column}/from`, chosen === "now" ? undefined : chosen)}
          />
        )}
        {worker && <Check f={form} name={`${column}/lowerIsBetter`} label="Lower is better" />}
      </details>
    </li>
  );
}

type Moving = { id: string; label: string; over: boolean; move: () => void; children: string };

/** Mover is a button that moves a row. At the end of the list it does nothing, and keeps the focus. */
const Mover = ({ id, label, over, move, children }: Moving) => (
  <button id={id} type="button" class="plain" aria-label={label} aria-disabled={over} onClick={move}>
    {children}
  </button>
);

const cutoffs: Record<Family["cutoff"], string> = {
  none: "It has no cutoff.",
  "optional depth": "After the @: how many documents count; without it, all.",
  "required depth": "After the @: how many documents count.",
  "required recall": "After the @: a recall, such as 0.1.",
};

/** Grammar explains how to write a measure: its cutoff, and the parameters in its brackets. */
function Grammar({ of, families }: { of: Family | undefined; families: Family[] }) {
  if (!of)
    return (
      <>
        {families.length > 0
          ? `Choose one above, or type it, such as ${families.slice(0, 2).map(exampleOf).join(" or ")}.`
          : "A name that your evaluator writes, such as Score."}
      </>
    );
  return (
    <>
      {[of.definition, ...(of.conventions ?? []), cutoffs[of.cutoff]].join(" ")}
      {of.parameters?.map(p => (
        <span key={p.name}>
          <br />
          <code>
            {of.name}({p.name}=…)
          </code>{" "}
          {p.definition}
          {p.choices && `: ${p.choices.join(", ")}`}
          {p.default && ` (unless given: ${p.default})`}
        </span>
      ))}
    </>
  );
}

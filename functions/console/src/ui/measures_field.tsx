// The field of a dataset's measures. The reader chooses them from the server's catalogue, and chooses the primary one.
import { useState } from "preact/hooks";
import type { Schemas } from "../api";
import { useGet } from "../data";
import { Select } from "./choices";
import { Field } from "./fields";
import type { Editing } from "./form";
import { exampleOf, familyOf } from "./measures";
import { member } from "./values";

type Family = Schemas["Family"];
const path = "evaluator/measures";

export function MeasuresField({ f }: { f: Editing }) {
  const [next, setNext] = useState("");
  const info = useGet("/info", {}).data;
  const kind = String(member(f.values, "evaluator/kind"));
  const families = info?.measures[kind] ?? [];
  const evaluator = info?.evaluators.find(e => e.kind === kind);
  const chosen = (member(f.values, path) as string[] | undefined) ?? [];
  const ranks = (member(f.values, "evaluator/primaryMeasure") as string | undefined) ?? chosen[0];
  const add = (): void => {
    const name = next.trim();
    if (name && !chosen.includes(name)) f.set(path, [...chosen, name]);
    setNext("");
  };
  const drop = (m: string): void => {
    f.set(
      path,
      chosen.filter(c => c !== m),
    );
    if (m === ranks) f.set("evaluator/primaryMeasure", undefined);
  };
  const choose = (name: string): void => {
    const family = families.find(m => m.name === name);
    setNext(family ? exampleOf(family) : "");
  };
  const typed = familyOf(families, next);
  return (
    <>
      <fieldset class="field">
        <legend>Measures</legend>
        <p class="hint">The one that is ticked ranks the leaderboard.</p>
        <ul class="rows">
          {chosen.map(m => {
            const family = familyOf(families, m);
            return (
              <li key={m}>
                <label>
                  <input
                    type="radio"
                    name={`${f.id}-ranks`}
                    checked={m === ranks}
                    onChange={() => f.set("evaluator/primaryMeasure", m)}
                  />
                  <span>
                    <code>{m}</code>{" "}
                    <span class="small quiet">
                      {family?.definition}
                      {family?.higherIsBetter === false && " Lower is better."}
                    </span>
                  </span>
                </label>
                <button
                  type="button"
                  class="plain"
                  aria-label={`Remove ${m}`}
                  disabled={chosen.length < 2}
                  onClick={() => drop(m)}
                >
                  Remove
                </button>
              </li>
            );
          })}
        </ul>
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
      <Field f={f} name={path} label="Add a measure" hint={<Grammar of={typed} families={families} />}>
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

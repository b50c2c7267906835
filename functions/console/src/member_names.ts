// Texts of problems in the words of the browser.
import type { components } from "./api_types";
import { labelElsewhere } from "./field_labels";
import { knownName } from "./known_names";
import { placeOf } from "./operation_names";
import { bytes } from "./ui/files";
import { moment } from "./ui/time";

type Part = components["schemas"]["ProblemPart"];
type Text = { detail: string; parts?: Part[] };

/** labelOf returns the label of a member's field in quotes, if the screen has exactly one such field. */
function labelOf(name: string): string | undefined {
  if (typeof document === "undefined") return undefined; // in unit tests
  const value = CSS.escape(name); // Users choose some names, such as those of members that no schema has.
  const all = new Set(
    [...document.querySelectorAll(`[data-field="${value}"] label, [data-field$="/${value}"] label`)].map(
      l => l.textContent,
    ),
  );
  return all.size === 1 ? `“${[...all][0]}”` : undefined;
}

/** optionOf returns the label of a value in quotes, if the screen has exactly one such option. */
function optionOf(value: string): string | undefined {
  if (typeof document === "undefined") return undefined; // in unit tests
  const all = new Set([...document.querySelectorAll(`option[value="${CSS.escape(value)}"]`)].map(o => o.textContent));
  return all.size === 1 ? `“${[...all][0]}”` : undefined;
}

/** separate returns the words of a member's name: "closes at" for closesAt, and "task" for taskId. */
export const separate = (name: string): string =>
  name
    .replace(/(?<=[a-z])Id$/, "")
    .replace(/(?<=[a-z])Ids$/, "s")
    .replace(/[A-Z]/g, c => ` ${c.toLowerCase()}`);

/** nameOf returns the label or the words of the last named member of a JSON Pointer, or of a name. */
function nameOf(pointer: string, label: typeof labelOf): string {
  const name = pointer
    .split("/")
    .filter(part => part && !/^\d+$/.test(part))
    .at(-1);
  return name ? (label(name) ?? labelElsewhere(name) ?? separate(name)) : "";
}

/** The advice of the API for a member that conflicts with others, and the advice for its field in a form. */
const unset = { member: "leave it out; a merge patch keeps it unless it sets it to null", field: "leave it empty" };

/** inWords returns a text in which the parts have the words of the browser. Other text stays unchanged, but for the advice on merge patches. */
export function inWords({ detail, parts }: Text, label = labelOf): string {
  const text = parts?.map(part => words(part, label)).join("") ?? detail;
  return text.replace(unset.member, unset.field);
}

function words(part: Part, label: typeof labelOf): string {
  switch (part.type) {
    case "member":
      return nameOf(part.value, label);
    case "choice":
      return optionOf(part.value) ?? labelElsewhere(part.value) ?? separate(part.value);
    case "parameter":
      return nameOf(part.value.replace(/^\w+\[(\w+)\]$/, "$1"), label);
    case "instant":
      return moment(part.value);
    case "size":
      return bytes(part.bytes) || part.value;
    case "operation":
      return placeOf(part.operation, part.body);
    case "resource":
      return resource(part);
    case "text":
      return part.value;
  }
}

/**
 * resource returns the name of a resource, or the end of its id if the page does not know its name. The id of an organizer stays:
 * texts give it as the beginning of the name of a pool, which the reader writes.
 */
function resource({ value, resource: kind, id, name }: Part): string {
  if (name) return name;
  if (!id || kind === "organizer") return value;
  return knownName(id) ?? `…${id.slice(-6)}`;
}

/**
 * sentencesOf returns the faults of a problem in words, or its detail if it has none. Faults of several members can have
 * the same words, which are said once.
 */
export const sentencesOf = ({ errors, ...of }: Text & { errors?: (Text & { pointer: string })[] }): string[] =>
  errors?.length ? [...new Set(errors.map(e => memberOf(e.pointer) + inWords(e)))] : [inWords(of)];

/** memberOf returns the last named member of a JSON Pointer in words, and a colon. It is empty for the whole document. */
export function memberOf(pointer: string, label = labelOf): string {
  const name = nameOf(pointer, label);
  return name ? `${name}: ` : "";
}

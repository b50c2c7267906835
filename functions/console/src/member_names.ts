// Texts of problems in the words of the browser.
import type { components } from "./api_types";
import { moment } from "./ui/time";

type Part = components["schemas"]["ProblemPart"];
type Text = { detail: string; parts?: Part[] };

/** labelOf returns the label of a member's field in quotes, if the screen has exactly one such field. */
function labelOf(name: string): string | undefined {
  const value = CSS.escape(name); // Users choose some names, such as those of members that no schema has.
  const all = new Set(
    [...document.querySelectorAll(`[data-field="${value}"] label, [data-field$="/${value}"] label`)].map(
      l => l.textContent,
    ),
  );
  return all.size === 1 ? `“${[...all][0]}”` : undefined;
}

/** separate returns the words of a name: "closes at" for closesAt. */
export const separate = (name: string): string => name.replace(/[A-Z]/g, c => ` ${c.toLowerCase()}`);

/** nameOf returns the label or the words of the last named member of a JSON Pointer, or of a name. */
function nameOf(pointer: string, label: typeof labelOf): string {
  const name = pointer
    .split("/")
    .filter(part => part && !/^\d+$/.test(part))
    .at(-1);
  return name ? (label(name) ?? separate(name)) : "";
}

/** inWords returns a text with the labels of members, and with instants in the zone of the reader. */
export function inWords({ detail, parts }: Text, label = labelOf): string {
  const all = parts ?? [{ type: "text", value: detail } as const];
  return all.map(part => words(part, label)).join("");
}

function words({ type, value }: Part, label: typeof labelOf): string {
  switch (type) {
    case "member":
      return nameOf(value, label);
    case "instant":
      return moment(value);
    case "text":
      return value.replaceAll("`", "");
    default:
      return value;
  }
}

/** memberOf returns the last named member of a JSON Pointer in words, and a colon. It is empty for the whole document. */
export function memberOf(pointer: string, label = labelOf): string {
  const name = nameOf(pointer, label);
  return name ? `${name}: ` : "";
}

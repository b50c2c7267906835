// The changes of audit entries in words.
import { knownName } from "./known_names";
import { separate } from "./member_names";
import { moment } from "./ui/time";

/** Change is a member that a change gave another value. from is missing for a new resource, and to for a deleted one. */
export type Change = { name: string; from?: string; to?: string };

const hidden = ["sha256", "digest", "id", "version", "createdAt", "updatedAt"];
const isId = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const isInstant = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** changesOf returns the members whose values differ between two states of a resource. */
export function changesOf(before: unknown, after: unknown): Change[] {
  const was = valuesOf(before);
  const is = valuesOf(after);
  return [...new Set([...was.keys(), ...is.keys()])].flatMap(name => {
    const from = was.get(name) ?? "";
    const to = is.get(name) ?? "";
    if (from === to) return [];
    return [{ name, ...(was.size > 0 && { from: from || "nothing" }), ...(is.size > 0 && { to: to || "nothing" }) }];
  });
}

/** valuesOf returns the values of a resource in words, by the words of their members. */
function valuesOf(of: unknown, at = ""): Map<string, string> {
  if (Array.isArray(of)) return new Map([[at || "users", of.map(said).filter(Boolean).join(", ")]]);
  if (typeof of !== "object" || of === null) return at === "" ? new Map() : new Map([[at, said(of)]]);
  const all = new Map<string, string>();
  for (const [name, value] of Object.entries(of)) {
    if (hidden.includes(name)) continue;
    for (const [path, text] of valuesOf(value, at ? `${at}, ${separate(name)}` : separate(name))) all.set(path, text);
  }
  return all;
}

/** said returns a value in words. Values that say nothing, such as 0 for no limit, are empty. */
export function said(value: unknown): string {
  if (value === true) return "yes";
  if (value === false) return "no";
  if (value === undefined || value === null || value === 0) return "";
  if (Array.isArray(value)) return value.map(said).join(", ");
  if (typeof value === "object") {
    const { name, ...others } = value as { name?: unknown };
    return name !== undefined ? String(name) : Object.values(others).map(said).filter(Boolean).join(" ");
  }
  const text = String(value);
  if (isId.test(text)) return knownName(text) ?? `…${text.slice(-6)}`;
  return isInstant.test(text) ? moment(text) : text;
}

// The changes of audit entries in words.
import { choiceLabels } from "./field_labels";
import { knownName, personOf } from "./known_names";
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

type Entry = {
  action: string;
  before?: unknown;
  after?: unknown;
  users?: { id: string; name?: string; email?: string }[];
};

/** moves are the words for users who are named before and after a change. Before it are those who lost something. */
const moves: Record<string, { lost: string; got: string }> = {
  "members.changed": { lost: "left", got: "joined" },
  "owners.changed": { lost: "no longer owners", got: "new owners" },
};

/** changesIn returns the changes of an entry. Changes of members and owners name the users who came and those who went. */
export function changesIn(e: Entry): Change[] {
  const words = moves[e.action];
  if (!words) return changesOf(e.before, e.after);
  const named = (ids: unknown): string =>
    (Array.isArray(ids) ? ids : []).map(id => personOf(e.users?.find(u => u.id === id) ?? { id })).join(", ");
  return [
    { name: words.lost, to: named(e.before) },
    { name: words.got, to: named(e.after) },
  ].filter(c => c.to);
}

/** valuesOf returns the values of a resource in words, by the words of their members. */
function valuesOf(of: unknown, at = ""): Map<string, string> {
  if (Array.isArray(of)) return new Map([[at || "users", of.map(said).filter(Boolean).join(", ")]]);
  if (typeof of !== "object" || of === null) return at === "" ? new Map() : new Map([[at, said(of)]]);
  const all = new Map<string, string>();
  for (const [name, value] of Object.entries(of)) {
    if (hidden.includes(name)) continue;
    const label = typeof value === "string" && choiceLabels[name]?.[value];
    if (label) {
      all.set(at ? `${at}, ${separate(name)}` : separate(name), label);
      continue;
    }
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

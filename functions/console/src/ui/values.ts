// The values of a form by the names of members, and patches and merges of them.
import type { components } from "../api_types";

export type Values = { [name: string]: unknown };
export type Fault = components["schemas"]["ProblemField"];

/** member returns the member at a path, such as "submissions/perDay", or undefined. */
export function member(of: unknown, path: string): unknown {
  let at = of;
  for (const name of path.split("/")) {
    if (at === null || typeof at !== "object") return undefined;
    at = (at as Values)[name];
  }
  return at;
}

/**
 * withMember returns a copy in which the member at a path has the value. It makes the objects on the way. Elements of lists have their
 * index as name.
 */
export function withMember(of: Values, path: string, value: unknown): Values {
  const [name, ...rest] = path.split("/") as [string, ...string[]];
  const copy = (Array.isArray(of) ? [...of] : { ...of }) as Values;
  const inner = (of[name] as Values | undefined) ?? {};
  copy[name] = rest.length === 0 ? value : withMember(inner, rest.join("/"), value);
  return copy;
}

/** within reports whether a fault concerns the member at a path, or a part of that member. */
export const within = (of: Fault, path: string): boolean => `${of.pointer}/`.startsWith(`/${path}/`);

const isObject = (v: unknown): v is Values => typeof v === "object" && v !== null && !Array.isArray(v);

/**
 * same reports whether two values have the same JSON, whatever the order of members. Missing equals null and an object
 * without values.
 */
export const same = (a: unknown, b: unknown): boolean => JSON.stringify(ordered(a)) === JSON.stringify(ordered(b));

/** ordered returns a copy whose objects have their members in the order of the names, and null for what has no value. */
function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (!isObject(value)) return value ?? null;
  const members = Object.entries(value)
    .map(([name, v]) => [name, ordered(v)] as const)
    .filter(([, v]) => v !== null)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return members.length > 0 ? Object.fromEntries(members) : null;
}

/** mergePatch returns the merge patch (RFC 7396) that turns a into b. An empty text removes a member. */
export function mergePatch(a: Values, b: Values): Values {
  const patch: Values = {};
  for (const name of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const from = a[name];
    const to = b[name];
    if (same(from, to)) continue;
    if (isObject(from) && isObject(to)) patch[name] = mergePatch(from, to);
    else patch[name] = to === undefined || to === "" ? null : to;
  }
  return patch;
}

/** filled returns a copy without members that are missing, null, empty texts or objects of such. */
export function filled(values: Values): Values {
  const kept: Values = {};
  for (const [name, value] of Object.entries(values)) {
    const v = isObject(value) ? filled(value) : value;
    const empty = v === undefined || v === null || v === "" || (isObject(v) && Object.keys(v).length === 0);
    if (!empty) kept[name] = v;
  }
  return kept;
}

/**
 * Merged holds values with somebody else's changes in them, and by path the changes of members that were also edited
 * here.
 */
export type Merged = { values: Values; conflicts: Values };

/**
 * mergeChanges adds the changes from base to now to edited values. A member that was edited differently keeps its
 * edited value.
 */
export function mergeChanges(values: Values, base: Values, now: Values): Merged {
  const merged: Merged = { values, conflicts: {} };
  for (const path of leaves(now, base)) {
    const was = member(base, path);
    const is = member(now, path);
    const mine = member(values, path);
    if (same(was, is) || same(is, mine)) continue;
    if (same(was, mine)) merged.values = withMember(merged.values, path, is);
    else merged.conflicts[path] = is;
  }
  return merged;
}

/** leaves lists the paths of members that are objects in neither value. */
function leaves(a: Values, b: Values, at = ""): string[] {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].flatMap(name => {
    const x = a[name];
    const y = b[name];
    if (!isObject(x) && !isObject(y)) return [at + name];
    return leaves(isObject(x) ? x : {}, isObject(y) ? y : {}, `${at}${name}/`);
  });
}

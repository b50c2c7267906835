// The address within the console: a path and a query after the #, which browsers do not send to the server. The query
// keeps the choices of the reader on a screen.
import { useSyncExternalStore } from "preact/compat";

/** Screen holds the parameters of the path and the query of the address, for the screen that the address names. */
export type Screen = { params: Record<string, string>; query: URLSearchParams };

export type Address = { path: string; query: URLSearchParams };

/** parseAddress returns the path and the query of a fragment, such as "#/runs?task=1". */
export function parseAddress(fragment: string): Address {
  const [path = "", query = ""] = fragment.slice(1).split("?", 2);
  return { path: path || "/", query: new URLSearchParams(query) };
}

/**
 * matchPath returns the parameters of a path if it has the form of the pattern. ":name" in a pattern stands for one
 * part that is not empty.
 */
export function matchPath(pattern: string, path: string): Screen["params"] | undefined {
  const wanted = pattern.split("/");
  const parts = path.split("/");
  if (wanted.length !== parts.length) return undefined;
  const params: Screen["params"] = {};
  for (const [i, part] of parts.entries()) {
    const name = wanted[i]!;
    if (!name.startsWith(":")) {
      if (name !== part) return undefined;
    } else {
      if (part === "") return undefined;
      params[name.slice(1)] = part;
    }
  }
  return params;
}

/** withChoices returns a fragment in which the query has these choices. A choice without a value is removed. */
export function withChoices(
  fragment: string,
  query: URLSearchParams,
  choices: Record<string, string | undefined>,
): string {
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(choices)) {
    if (value) next.set(name, value);
    else next.delete(name);
  }
  const [path] = fragment.split("?", 1);
  return path + (next.size > 0 ? `?${next}` : "");
}

const subscribe = (tell: () => void): (() => void) => {
  addEventListener("hashchange", tell);
  return () => removeEventListener("hashchange", tell);
};

/** useAddress returns the address after the #, and renders again when it changes. */
export function useAddress(): Address {
  return parseAddress(useSyncExternalStore(subscribe, () => location.hash));
}

/** go navigates to another address of the console. */
export const go = (to: string): void => {
  location.hash = to;
};

/** view stores choices in the address without a step in the history, so that a link to the screen has them. */
export function view(query: URLSearchParams, choices: Record<string, string | undefined>): void {
  history.replaceState(null, "", withChoices(location.hash, query, choices));
  dispatchEvent(new HashChangeEvent("hashchange"));
}

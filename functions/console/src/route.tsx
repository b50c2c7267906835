// Where the reader is: a path after the # of the address, which no server sees, with a query that keeps the view of a screen.
import { lazy, Suspense, useSyncExternalStore } from "preact/compat";
import type { ComponentChildren, ComponentType } from "preact";
import { useEffect, useErrorBoundary } from "preact/hooks";
import { toProblem } from "./api";
import { Busy, Failure } from "./ui/show";

export type Screen = { params: Record<string, string>; query: URLSearchParams };
type Load = () => Promise<{ default: ComponentType<Screen> }>;

/** The screens by address. What stands after a colon is a parameter. */
const screens: [load: Load, ...paths: string[]][] = [
  [() => import("./screens/tasks"), "/"],
  [() => import("./screens/sign_in"), "/sign-in"],
  [() => import("./screens/invited"), "/join"],
  [() => import("./screens/new_task"), "/tasks/new"],
  [() => import("./screens/task"), "/tasks/:taskId"],
  [() => import("./screens/join"), "/tasks/:taskId/join"],
  [() => import("./screens/team"), "/tasks/:taskId/team"],
  [() => import("./screens/submit"), "/tasks/:taskId/submit"],
  [() => import("./screens/runs"), "/tasks/:taskId/runs", "/runs"],
  [() => import("./screens/leaderboard"), "/tasks/:taskId/leaderboard"],
  [() => import("./screens/desk"), "/desk"],
  [() => import("./screens/me"), "/me"],
  [() => import("./screens/admin"), "/admin"],
  [() => import("./screens/users"), "/admin/users", "/admin/users/:userId"],
  [() => import("./screens/task_desk"), "/tasks/:taskId/desk"],
  [() => import("./screens/registration"), "/tasks/:taskId/registrations/:registrationId"],
  [() => import("./screens/review"), "/runs/:runId/review"],
  [() => import("./screens/audit"), "/tasks/:taskId/audit", "/organizers/:organizerId/audit"],
  [() => import("./screens/webhooks"), "/tasks/:taskId/webhooks", "/organizers/:organizerId/webhooks"],
  [() => import("./screens/new_organizer"), "/organizers/new"],
  [() => import("./screens/organizer"), "/organizers/:organizerId"],
  [() => import("./screens/trash"), "/trash"],
  [() => import("./screens/edit_task"), "/tasks/:taskId/edit"],
  [() => import("./screens/dataset"), "/tasks/:taskId/datasets/new", "/datasets/:datasetId/edit"],
  [() => import("./screens/compare"), "/compare"],
  [() => import("./screens/run"), "/runs/:runId"],
  [() => import("./screens/serp"), "/runs/:runId/serp"],
];

const routes = screens.flatMap(([load, ...paths]) => {
  const Show = lazy(load);
  return paths.map(path => ({ parts: path.split("/"), Show }));
});

const subscribe = (tell: () => void): (() => void) => {
  addEventListener("hashchange", tell);
  return () => removeEventListener("hashchange", tell);
};

/** useAddress returns the path and query after the #. */
export function useAddress(): { path: string; query: URLSearchParams } {
  const hash = useSyncExternalStore(subscribe, () => location.hash);
  const [path = "", query = ""] = hash.slice(1).split("?", 2);
  return { path: path || "/", query: new URLSearchParams(query) };
}

/** go leads to another address of the console. */
export const go = (to: string): void => {
  location.hash = to;
};

/** view keeps a choice in the address without making a step of it, so that a link to the screen shows the same. */
export function view(query: URLSearchParams, choices: Record<string, string | undefined>): void {
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(choices)) {
    if (value) next.set(name, value);
    else next.delete(name);
  }
  const [path] = location.hash.split("?", 1);
  history.replaceState(null, "", path + (next.size > 0 ? `?${next}` : ""));
  dispatchEvent(new HashChangeEvent("hashchange"));
}

function match(path: string): { Show: ComponentType<Screen>; params: Record<string, string> } | undefined {
  const parts = path.split("/");
  for (const { parts: pattern, Show } of routes) {
    const params: Record<string, string> = {};
    const fits =
      pattern.length === parts.length &&
      pattern.every((p, i) => {
        if (!p.startsWith(":")) return p === parts[i];
        params[p.slice(1)] = parts[i]!;
        return parts[i] !== "";
      });
    if (fits) return { Show, params };
  }
  return undefined;
}

/** Current shows the screen of the address. */
export function Current() {
  const { path, query } = useAddress();
  const found = match(path);
  useEffect(() => {
    // The heading of the new screen comes with its data: reading begins there, as after a page has loaded.
    const main = document.querySelector("main")!;
    const focus = (): boolean => {
      const h1 = main.querySelector<HTMLElement>("h1");
      h1?.focus({ preventScroll: true });
      return h1 !== null;
    };
    scrollTo(0, 0);
    if (focus()) return undefined;
    const observer = new MutationObserver(() => focus() && observer.disconnect());
    observer.observe(main, { childList: true, subtree: true });
    return () => observer.disconnect();
  }, [path]);
  if (!found)
    return (
      <>
        <h1 tabIndex={-1}>There is nothing here</h1>
        <p>
          Check the address, or go to <a href="#/">the tasks</a>.
        </p>
      </>
    );
  return (
    <Caught key={path}>
      <Suspense fallback={<Busy />}>
        <found.Show key={path} params={found.params} query={query} />
      </Suspense>
    </Caught>
  );
}

/** Caught shows why a screen broke, so that the others can still be reached. */
function Caught({ children }: { children: ComponentChildren }) {
  const [error, again] = useErrorBoundary();
  return error ? (
    <>
      <h1 tabIndex={-1}>This page cannot be shown</h1>
      <Failure of={toProblem(error)} retry={again} />
    </>
  ) : (
    children
  );
}

// The screens, and the choice of the screen that the address names. Screens read and change the address with route.ts.
import type { ComponentChildren, ComponentType } from "preact";
import { lazy, Suspense } from "preact/compat";
import { useEffect, useErrorBoundary, useRef, useState } from "preact/hooks";
import { loadPart, PartMissing, reload } from "./parts";
import { type Problem, toProblem } from "./problem";
import { arrived } from "./refresh";
import { matchPath, type Screen, useAddress } from "./route";
import { useSession } from "./session";
import { Busy, Failure, Heading } from "./ui/show";
import { SignIn } from "./ui/sign_in_form";

type Load = () => Promise<{ default: ComponentType<Screen> }>;

/** The screens, each with its addresses. The first one that matches is shown. */
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

/** The addresses whose screens need a login, and do not ask for one themselves. */
const personal = [
  /^\/(trash|admin(\/users.*)?)$/,
  /^\/tasks\/\w+\/(team|submit|desk|audit|webhooks|registrations\/\w+|datasets\/new)$/,
  /^\/organizers\/\w+\/(audit|webhooks)$/,
  /^\/runs\/\w+\/review$/,
  /^\/datasets\/\w+\/edit$/,
];

const routes = screens.flatMap(([load, ...patterns]) => {
  const Show = lazy(() => loadPart(load));
  return patterns.map(pattern => ({ pattern, Show }));
});

function findScreen(path: string): { Show: ComponentType<Screen>; params: Screen["params"] } | undefined {
  for (const { pattern, Show } of routes) {
    const params = matchPath(pattern, path);
    if (params) return { Show, params };
  }
  return undefined;
}

/** Current shows the screen of the address. */
export function Current() {
  const { path, query } = useAddress();
  const found = findScreen(path);
  const shown = useRef(path);
  if (shown.current !== path) {
    shown.current = path;
    arrived();
  }
  const { signedIn } = useSession();
  useEffect(() => {
    // The heading of the new screen appears with its data, and gets the focus. Screen readers start there.
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
  if (!signedIn && personal.some(p => p.test(path)))
    return (
      <>
        <Heading title="Sign in">Sign in</Heading>
        <p>You need to sign in first. Some pages are shown only to a team, to organizers or to administrators.</p>
        <SignIn />
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

/** Caught shows the error of a broken screen, and keeps the navigation to the other screens. */
function Caught({ children }: { children: ComponentChildren }) {
  const [error, again] = useErrorBoundary();
  return error ? (
    <>
      <h1 tabIndex={-1}>This page cannot be shown</h1>
      <Unshown error={error} again={again} />
    </>
  ) : (
    children
  );
}

/** Unshown shows the error. Trying again loads the page again if a part of the application is missing. */
function Unshown({ error, again }: { error: unknown; again: () => void }) {
  const [offline, setOffline] = useState<Problem>();
  const problem = toProblem(error);
  const retry = async (): Promise<void> => {
    if (!(problem instanceof PartMissing)) return again();
    setOffline(undefined);
    await reload().catch((missing: unknown) => setOffline(toProblem(missing)));
  };
  return <Failure of={offline ?? problem} retry={retry} />;
}

// The name of a task, and the links between its screens.
import type { ComponentChildren } from "preact";
import type { Schemas } from "../api";
import { useGet } from "../data";
import { quotaInstants, windowsOf } from "../instants";
import { allOver } from "../quota_words";
import { deletedTask, isAdmin, type Me, organizes, registrationIn, useMe } from "../roles";
import { useSession } from "../session";
import { registers } from "../stage";
import { useFreshAt } from "./clock";
import { useDecisions } from "./decisions";
import { MissingTask } from "./missing_task";
import { Busy, Heading } from "./show";
import { Visible } from "./visible";

export type OfTask = { task: Schemas["Task"]; me: Me | undefined };

/**
 * TaskFrame shows a screen of a task once the task is read. While the screen is open, it follows what becomes of the
 * reader's team, and reads everything again when a window opens or closes.
 */
export function TaskFrame({
  taskId,
  title,
  at,
  children,
}: {
  taskId: string;
  title: string;
  at: string;
  children: (of: OfTask) => ComponentChildren;
}) {
  const task = useGet("/v1/tasks/{taskId}", { path: { taskId } });
  const { signedIn } = useSession();
  const me = useMe(m => (task.data && !task.error && m && deletedTask(m, taskId) ? 2000 : 0)); // A restored task lists its teams later.
  const team = useDecisions(registrationIn(me, taskId));
  useFreshAt([...windowsOf(task.data ? [task.data] : []), ...quotaInstants(team?.quota)]);
  if (signedIn && task.error?.document.status === 404) return <MissingTask taskId={taskId} of={task} />;
  return (
    <Visible of={task} title="Task">
      {t => (
        <>
          <Heading title={at ? `${title} · ${t.name}` : t.name}>
            <bdi>{t.name}</bdi>
          </Heading>
          <TaskNav task={t} me={me} at={at} over={allOver(team?.quota)} />
          {at && <h2>{title}</h2>}
          {me && deletedTask(me, taskId) ? <Busy /> : children({ task: t, me })}
        </>
      )}
    </Visible>
  );
}

/**
 * GoneFrom replaces an open screen whose resource is gone. The screen stays within the task, which may have been deleted
 * with the resource.
 */
export function GoneFrom({ taskId, title }: { taskId: string; title: string }) {
  return (
    <TaskFrame taskId={taskId} title={title} at="/gone">
      {() => (
        <p class="empty" role="status">
          This {title.toLowerCase()} was deleted, or is no longer shown to you. The organizers can restore it from the{" "}
          <a href={`#/trash?task=${taskId}`}>trash</a> if it was deleted.
        </p>
      )}
    </TaskFrame>
  );
}

/** Organizer shows the name of the organizer of a task. The line keeps its place while the name is being read. */
export function Organizer({ id }: { id: string }) {
  const { data } = useGet("/v1/organizers/{organizerId}", { path: { organizerId: id } });
  return (
    <p class="small quiet">
      by <bdi>{data?.name ?? "…"}</bdi>
    </p>
  );
}

/** Ask sends the reader to the website of the task or of its organizer. Without one it shows nothing. */
export function Ask({ task, children }: { task: Schemas["Task"]; children: ComponentChildren }) {
  const path = { organizerId: task.organizerId };
  const organizer = useGet("/v1/organizers/{organizerId}", { path }).data;
  const at = task.website || organizer?.website;
  if (!at) return null;
  return (
    <>
      {children}:{" "}
      <a href={at} rel="nofollow noopener">
        {task.website ? "website of the task" : "website of the organizer"}
      </a>
    </>
  );
}

function TaskNav({ task, me, at, over }: OfTask & { at: string; over: boolean }) {
  const mine = registrationIn(me, task.id);
  const organizer = organizes(me, task.organizerId);
  const links: [to: string, name: string][] = [
    ["", "Overview"],
    ["/leaderboard", "Leaderboard"],
  ];
  if (mine) links.push(["/team", "Team"]);
  // The page says why nothing can be submitted any more, so its link stays while the page is open.
  if (mine?.state === "accepted" && (!over || at === "/submit")) links.push(["/submit", "Submit"]);
  if (mine) links.push(["/runs", "My runs"]);
  // The page says why no team can register now, so its link stays while the page is open.
  if (!mine && me && !organizer && (registers(task) || at === "/join")) links.push(["/join", "Take part"]);
  if (organizer || isAdmin(me)) links.push(["/desk", "Manage"], ["/edit", "Edit"]);
  return (
    <nav aria-label="Task">
      <ul class="tabs">
        {links.map(([to, name]) => (
          <li key={to}>
            <a href={`#/tasks/${task.id}${to}`} aria-current={to === at ? "page" : undefined}>
              {name}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

// The open work of the reader's organizers in all of their tasks, in one list.
import { Fragment } from "preact";
import { useState } from "preact/hooks";
import useSWR from "swr";
import type { Schemas } from "../api";
import { read, useList } from "../data";
import { count } from "../plural";
import { Problem } from "../problem";
import { change as publish, question } from "../publishing";
import { publishable, publishingVerb } from "../publishing_question";
import { conclude } from "../reviews";
import { type Me, useMe } from "../roles";
import { type Screen, view } from "../route";
import { useScores } from "../scores";
import { useSession } from "../session";
import { useStages } from "../task_stages";
import { teamName } from "../team_name";
import { useRejected } from "../teams";
import { happened } from "../todo_words";
import { SelectAll, Tabs } from "../ui/choices";
import { decide } from "../ui/decide";
import { Action, Busy, Heading, Items, Listed, Tag, Unread } from "../ui/show";
import { SignIn } from "../ui/sign_in_form";
import { say } from "../ui/status";

type Todo = Schemas["Todo"];

const kinds: Record<Todo["kind"], [said: string, kind?: "bad" | "warm"]> = {
  "registration.pending": ["wants to take part", "warm"],
  "run.unreviewed": ["has a run to review"],
  "run.failed": ["has a run that failed", "bad"],
  "workers.missing": ["has a run that no worker serves", "bad"],
};

export default function Desk({ query }: Screen) {
  const me = useMe();
  const { signedIn } = useSession();
  if (!me)
    return (
      <>
        <Heading title="Organize">Organize</Heading>
        {signedIn ? <Busy /> : <SignIn />}
      </>
    );
  return <Of me={me} query={query} />;
}

type Membership = Me["memberships"][number];
const named = (m: Membership): string => m.organizerName ?? "Organizer";
const most = 100; // todos of an organizer that one request counts

/** useTodos returns the number of todos of each organizer, at most most. */
function useTodos(of: Membership[]): Map<string, number> {
  const { data } = useSWR(of.length > 1 && ["todos", of.map(m => m.organizerId)], async () => {
    const path = "/v1/organizers/{organizerId}/todos";
    const query = { limit: most, fields: ["id" as const] };
    const counts = of.map(({ organizerId }) =>
      read(path, { path: { organizerId }, query }).then((p): [string, number] => [organizerId, p?.data.length ?? 0]),
    );
    return new Map(await Promise.all(counts));
  });
  return data ?? new Map();
}

function Of({ me, query }: { me: Me; query: URLSearchParams }) {
  const at = me.memberships.find(m => m.organizerId === query.get("organizer")) ?? me.memberships[0];
  const todos = useTodos(me.memberships);
  const waiting = (organizerId: string): string => {
    const open = todos.get(organizerId) ?? 0;
    return open === 0 ? "" : ` (${open}${open === most ? "+" : ""})`;
  };
  const elsewhere = me.memberships.filter(m => m !== at && waiting(m.organizerId));
  return (
    <>
      <Heading title="Organize">Organize</Heading>
      {!at ? (
        <p class="empty">
          You organize nothing yet. <a href="#/organizers/new">Create an organizer</a>, such as your lab, and then its
          first task; or open the invitation that an organizer sent you.
        </p>
      ) : (
        <>
          {me.memberships.length > 1 && (
            <Tabs
              label="Organizer"
              options={Object.fromEntries(me.memberships.map(m => [m.organizerId, named(m) + waiting(m.organizerId)]))}
              value={at.organizerId}
              choose={organizer => view(query, { organizer })}
            />
          )}
          <p class="actions">
            <a href={`#/organizers/${at.organizerId}`}>
              Members of <bdi>{at.organizerName ?? "the organizer"}</bdi>
            </a>
            <a href="#/trash">Trash</a>
            <a href="#/organizers/new">Another organizer</a>
          </p>
          <h2>Your tasks</h2>
          <Tasks organizerId={at.organizerId} member />
          <p class="actions">
            <a class="button" href={`#/tasks/new?organizer=${at.organizerId}`}>
              New task
            </a>
          </p>
          <h2>Inbox</h2>
          <Waiting key={at.organizerId} organizerId={at.organizerId} elsewhere={elsewhere} />
        </>
      )}
    </>
  );
}

const names = { open: "open", upcoming: "not open yet", past: "closed" };

/** Tasks shows the tasks of an organizer, each with its state and links for its organizers. */
export function Tasks({ organizerId, member }: { organizerId: string; member: boolean }) {
  const screenOf = (t: Schemas["Task"]): string => {
    if (!member) return "";
    return t.visibility === "private" ? "/edit" : "/desk";
  };
  const all = useList("/v1/tasks", { query: { "filter[organizerId]": [organizerId] } });
  const staged = useStages(all.items ?? []);
  const stateOf = (t: Schemas["Task"]): string => {
    if (t.visibility === "private") return "not published";
    return staged ? names[staged(t).stage] : "…";
  };
  return (
    <Listed
      of={all}
      empty={
        <p>
          {member
            ? "There is no task yet. Make one: others see it once you publish it."
            : "There is no task that you see."}
        </p>
      }
    >
      {t => (
        <>
          <span>
            <a href={`#/tasks/${t.id}${screenOf(t)}`}>
              <bdi>{t.name}</bdi>
            </a>{" "}
            <Tag kind={t.visibility === "private" ? "warm" : "good"}>{stateOf(t)}</Tag>
          </span>
          {member && (
            <>
              <a href={`#/tasks/${t.id}/desk`} aria-label={`Manage ${t.name}`}>
                Manage
              </a>
              <a href={`#/tasks/${t.id}/edit`} aria-label={`Edit ${t.name}`}>
                Edit
              </a>
            </>
          )}
        </>
      )}
    </Listed>
  );
}

const ofRun = (t: Todo): boolean => t.kind === "run.unreviewed" || t.kind === "run.failed";

/** NothingHere says that an organizer has no todos, and names the reader's other organizers that have some. */
const NothingHere = ({ elsewhere }: { elsewhere: Membership[] }) =>
  elsewhere.length === 0 ? (
    <p>Nothing waits for you. Teams that want to take part, runs to review and what went wrong come here.</p>
  ) : (
    <p>
      Nothing waits here, but in{" "}
      {elsewhere.map((m, i) => (
        <Fragment key={m.organizerId}>
          {i > 0 && ", "}
          <a href={`#/desk?organizer=${m.organizerId}`}>
            <bdi>{named(m)}</bdi>
          </a>
        </Fragment>
      ))}
      .
    </p>
  );

function Waiting({ organizerId, elsewhere }: { organizerId: string; elsewhere: Membership[] }) {
  const all = useList("/v1/organizers/{organizerId}/todos", { path: { organizerId }, query: { limit: 100 } });
  const tasks = [...new Set(all.items?.map(t => t.taskId))];
  const datasets =
    useList(tasks.length > 0 ? "/v1/datasets" : null, { query: { "filter[taskId]": tasks.slice(0, 50), limit: 200 } })
      .items ?? [];
  const [ticked, setTicked] = useState<string[]>([]);
  const chosen = all.items?.filter(t => ticked.includes(t.id)) ?? [];
  const settled = async (): Promise<void> => {
    setTicked([]);
    await all.reload();
  };
  const settle = (ts: Todo[], state: "accepted" | "rejected"): Promise<void> =>
    decide(
      ts.map(t => ({ id: t.registrationId!, taskId: t.taskId, team: t.team, alias: t.alias, state: "pending" })),
      state,
      settled,
    );
  const act = async (ts: Todo[], change: Schemas["ReviewChange"], done: string): Promise<void> => {
    const runs = ts as { runId: string; datasetId: string }[];
    const { changed, failed, undo } = await conclude(runs, change, true).finally(settled);
    if (changed > 0)
      say(`${count(changed, "run")} ${changed === 1 ? "is" : "are"} ${done}.`, () => undo().finally(settled));
    if (failed[0]) throw new Problem(failed[0].problem!);
  };
  const ofRuns = all.items?.filter(ofRun) ?? [];
  const rejections = useRejected(ofRuns.map(t => t.taskId));
  const rejected = (t: Todo): boolean | undefined =>
    rejections.data && (rejections.data.get(t.taskId)?.has(t.registrationId ?? "") ?? false);
  const teams = chosen.filter(t => t.kind === "registration.pending");
  const runs = chosen.filter(ofRun);
  const completed = runs
    .filter(t => t.kind === "run.unreviewed")
    .map(t => ({
      ...t,
      rejected: rejected(t),
      runId: t.runId!,
      datasetId: t.datasetId!,
    }));
  const published = publishable(completed);
  const scores = useScores(ofRuns.map(t => t.runId!));
  const scoreOf = ({ runId }: Pick<Todo, "runId">) => scores.data?.find(e => e.runId === runId);
  const verb = publishingVerb(published.map(scoreOf));
  return (
    <Items of={all} empty={<NothingHere elsewhere={elsewhere} />}>
      {items => (
        <>
          <p class="actions">
            <SelectAll ids={items.map(t => t.id)} chosen={chosen.length} tick={setTicked} />
            {teams.length > 0 && (
              <>
                <Action plain run={() => settle(teams, "accepted")}>
                  Accept {count(teams.length, "team")}
                </Action>
                <Action plain run={() => settle(teams, "rejected")}>
                  Reject {count(teams.length, "team")}
                </Action>
              </>
            )}
            {rejections.data && scores.data && published.length > 0 && (
              <Action
                plain
                ask={() => question(verb, publish, completed)}
                run={() => act(published, publish, "published")}
              >
                {verb} {count(published.length, "run")}
              </Action>
            )}
            {runs.length > 0 && (
              <Action plain run={() => act(runs, { waits: false }, "marked as seen")}>
                Mark {count(runs.length, "run")} as seen
              </Action>
            )}
          </p>
          {published.length > 0 && (
            <>
              <Unread of={scores}>
                The evaluations of the runs cannot be read, so runs cannot be published together here now.
              </Unread>
              <Unread of={rejections}>
                Which teams were rejected cannot be read, so runs cannot be published together here now.
              </Unread>
            </>
          )}
          <ul class="rows">
            {items.map(t => (
              <li key={t.id + t.kind}>
                <label>
                  <input
                    type="checkbox"
                    checked={ticked.includes(t.id)}
                    onChange={e =>
                      setTicked(e.currentTarget.checked ? [...ticked, t.id] : ticked.filter(x => x !== t.id))
                    }
                  />{" "}
                  <bdi>{teamName(t)}</bdi>
                  {t.run && t.run !== t.team && (
                    <>
                      : <bdi>{t.run}</bdi>
                    </>
                  )}{" "}
                  <Tag kind={kinds[t.kind][1]}>{kinds[t.kind][0]}</Tag>{" "}
                  {ofRun(t) && scoreOf(t)?.final && <Tag kind="good">final</Tag>}{" "}
                  {ofRun(t) && rejected(t) && <Tag kind="bad">team rejected</Tag>}{" "}
                  <span class="small quiet">
                    <bdi>{[t.taskName, datasets.find(d => d.id === t.datasetId)?.name].filter(Boolean).join(", ")}</bdi>
                    , {happened(t)}
                  </span>
                </label>
                {t.kind === "registration.pending" ? (
                  <>
                    <Action plain label={`Accept ${teamName(t)}`} run={() => settle([t], "accepted")}>
                      Accept
                    </Action>
                    <Action plain label={`Reject ${teamName(t)}`} run={() => settle([t], "rejected")}>
                      Reject
                    </Action>
                    <a
                      href={`#/tasks/${t.taskId}/registrations/${t.registrationId}`}
                      aria-label={`Look at ${teamName(t)}`}
                    >
                      Look
                    </a>
                  </>
                ) : (
                  <a
                    href={`#/runs/${t.runId}/${ofRun(t) ? "review" : ""}`.replace(/\/$/, "")}
                    aria-label={`${ofRun(t) ? "Review" : "View"} the run of ${teamName(t)}: ${t.run ?? ""}`}
                  >
                    {ofRun(t) ? "Review" : "View"}
                  </a>
                )}
              </li>
            ))}
          </ul>
        </>
      )}
    </Items>
  );
}

// The tasks: open, upcoming and past tasks and the reader's tasks, with a search by name.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Schemas } from "../api";
import { useGet, useList } from "../data";
import { nobodyRestores } from "../deletion_words";
import { gone } from "../problem";
import { type Me, useMe } from "../roles";
import { type Screen, view } from "../route";
import { useSession } from "../session";
import type { Stage } from "../stage";
import { type OwnStaged, useOwnStages } from "../task_stages";
import { DateOf } from "../ui/dates";
import { stateKinds } from "../ui/decide";
import { Ended } from "../ui/ended";
import { Busy, Heading, Items, Tag } from "../ui/show";
import { SignIn } from "../ui/sign_in_form";
import { Organizer } from "../ui/task_nav";
import { Deadline } from "../ui/time";

type Task = Schemas["Task"];
const tabs: Record<Stage | "mine", string> = { mine: "Mine", open: "Open", upcoming: "Upcoming", past: "Past" };

export default function Tasks({ query }: Screen) {
  const me = useMe();
  const { signedIn } = useSession();
  const shown = query.get("show") ?? "open";
  const at = Object.hasOwn(tabs, shown) ? (shown as Stage | "mine") : "open";
  const name = query.get("name") ?? "";
  return (
    <>
      <Heading title="Tasks">Tasks</Heading>
      <ul class="tabs">
        {(Object.keys(tabs) as (keyof typeof tabs)[])
          .filter(t => signedIn || t !== "mine")
          .map(t => (
            <li key={t}>
              <a href={`#/?show=${t}`} aria-current={t === at ? "page" : undefined}>
                {tabs[t]}
              </a>
            </li>
          ))}
      </ul>
      {at === "mine" ? (
        <MineOrSignIn me={me} />
      ) : (
        <>
          <p class="field">
            <label for="name">Search by name</label>
            <input id="name" type="search" value={name} onInput={e => view(query, { name: e.currentTarget.value })} />
          </p>
          <All stage={at} name={name} />
        </>
      )}
    </>
  );
}

function MineOrSignIn({ me }: { me: Me | undefined }) {
  const { signedIn } = useSession();
  if (me) return <Mine me={me} />;
  if (signedIn) return <Busy />;
  return (
    <>
      <p>Sign in to see your tasks.</p>
      <SignIn />
    </>
  );
}

function All({ stage, name }: { stage: Stage; name: string }) {
  const all = useList(
    "/v1/tasks",
    { query: { limit: 100, ...(name && { "filter[name]": [name] }) } },
    { keepPreviousData: true },
  );
  const none = (): string => {
    if (all.more) return `None of the newest tasks is ${stage}. Show more to look further back.`;
    return name ? "No task of this name is here. Try another name, or another tab." : `No task is ${stage} now.`;
  };
  const stages = useOwnStages(all.items ?? []);
  const tasks = { ...all, items: stages && all.items?.filter(t => stages(t).stage === stage) };
  return (
    <Items of={tasks} empty={<p>{none()}</p>}>
      {items => (
        <Cards>
          {items.map(t => (
            <Card key={t.id} task={t} staged={stages!(t)} />
          ))}
        </Cards>
      )}
    </Items>
  );
}

const Cards = ({ children }: { children: ComponentChildren }) => <ul class="cards">{children}</ul>;

/** Mine shows the reader's teams in tasks, also those that wait to be accepted, and the tasks that the reader organizes. */
function Mine({ me }: { me: Me }) {
  const [count, setCount] = useState(24);
  const teams = me.registrations.filter(r => r.state !== "rejected");
  const deleted = me.deletedTasks ?? [];
  const rejected = me.registrations.filter(r => r.state === "rejected");
  return (
    <>
      <h2>Your teams</h2>
      {deleted.map(d => (
        <p class="notice" key={d.taskId}>
          The organizers have deleted <bdi>{d.taskName ?? "a task"}</bdi>, in which <bdi>{d.team}</bdi> was registered.{" "}
          {d.restorableUntil ? (
            <>
              They can restore it until <Deadline at={d.restorableUntil} />.
            </>
          ) : (
            nobodyRestores
          )}
        </p>
      ))}
      {me.endedRegistrations?.map(e => (
        <Ended key={e.taskId} of={e} named />
      ))}
      {teams.length === 0 ? (
        <p class="empty">
          Choose a task under <a href="#/?show=open">Open</a>, and take part. To join a team, open the invitation link
          that its owner sends you.
        </p>
      ) : (
        <Cards>
          {teams.slice(0, count).map(r => (
            <Registered key={r.registrationId} of={r} />
          ))}
        </Cards>
      )}
      {teams.length > count && (
        <p>
          <button type="button" class="plain" onClick={() => setCount(count + 24)}>
            Show more
          </button>
        </p>
      )}
      {rejected.length > 0 && (
        <>
          <h2>Teams that the organizers rejected</h2>
          <Cards>
            {rejected.map(r => (
              <Registered key={r.registrationId} of={r} />
            ))}
          </Cards>
        </>
      )}
      <h2>You organize</h2>
      {me.memberships.length === 0 ? (
        <p class="empty">
          To run a task of your own, <a href="#/organizers/new">name your organizer</a> first: your lab, or the workshop
          that you run it for.
        </p>
      ) : (
        <>
          <p class="actions">
            <a class="button" href="#/tasks/new">
              New task
            </a>
            {me.memberships.map(m => (
              <a key={m.organizerId} href={`#/organizers/${m.organizerId}`}>
                <bdi>{m.organizerName ?? "Organizer"}</bdi>
              </a>
            ))}
            <a href="#/organizers/new">New organizer</a>
          </p>
          <Organized ids={me.memberships.map(m => m.organizerId)} />
        </>
      )}
    </>
  );
}

function Organized({ ids }: { ids: string[] }) {
  const all = useList("/v1/tasks", { query: { "filter[organizerId]": ids } });
  const stages = useOwnStages(all.items ?? []);
  return (
    <Items of={all} empty={<p>Your organizer has no task yet.</p>}>
      {items => (
        <Cards>
          {items.map(t => (
            <Card key={t.id} task={t} staged={stages?.(t)} organized />
          ))}
        </Cards>
      )}
    </Items>
  );
}

function Registered({ of }: { of: Me["registrations"][number] }) {
  const { data, error } = useGet("/v1/tasks/{taskId}", { path: { taskId: of.taskId } });
  const stages = useOwnStages(data ? [data] : []);
  return data && !gone(error) ? (
    <Card task={data} staged={stages?.(data)} registration={of} />
  ) : (
    <li class="card">
      <h3>
        <a href={`#/tasks/${of.taskId}`}>
          <bdi>{of.taskName ?? "A private task"}</bdi>
        </a>
      </h3>
      <p>
        <Standing of={of} />
      </p>
    </li>
  );
}

const standings = { accepted: "takes part", pending: "waits for the organizers", rejected: "rejected" };

const Standing = ({ of: r }: { of: Me["registrations"][number] }) => (
  <Tag kind={stateKinds[r.state]}>
    {r.team}: {standings[r.state]}
  </Tag>
);

function Card({
  task,
  staged,
  registration,
  organized,
}: {
  task: Task;
  /** staged is absent until the datasets of the task are read. */
  staged: OwnStaged | undefined;
  registration?: Me["registrations"][number];
  organized?: boolean;
}) {
  const Name = registration || organized ? "h3" : "h2"; // Mine has its own h2 headings.
  return (
    <li class="card">
      <Name>
        <a href={`#/tasks/${task.id}`}>
          <bdi>{task.name}</bdi>
        </a>
      </Name>
      <Organizer id={task.organizerId} />
      <p>
        {task.featured && <Tag kind="good">featured</Tag>}{" "}
        {task.visibility === "private" && <Tag kind="warm">private</Tag>}{" "}
        {registration && <Standing of={registration} />}
      </p>
      {staged?.dates.map(d => (
        <p class="small quiet" key={d.name}>
          <DateOf of={d} stage={staged.stage} />
        </p>
      ))}
      <p class="small">
        <a href={`#/tasks/${task.id}/leaderboard`} aria-label={`Leaderboard of ${task.name}`}>
          Leaderboard
        </a>
        {registration?.state === "accepted" && staged && !staged.over && (
          <>
            {" "}
            ·{" "}
            <a href={`#/tasks/${task.id}/submit`} aria-label={`Submit to ${task.name}`}>
              Submit
            </a>
          </>
        )}
        {organized && (
          <>
            {" "}
            ·{" "}
            <a href={`#/tasks/${task.id}/desk`} aria-label={`Manage ${task.name}`}>
              Manage
            </a>
          </>
        )}
      </p>
    </li>
  );
}

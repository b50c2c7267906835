// The runs of the reader, in one task or in all: state, score and fault in one row, updated while runs are unfinished.
import useSWR from "swr";
import type { Schemas } from "../api";
import { scoreName, scoreOf } from "../columns";
import { read, useGet, useList } from "../data";
import { nobodyRestores } from "../deletion_words";
import { clauseOf } from "../faults";
import { noticeOf, waitsFor } from "../queue_words";
import { chunks } from "../review_changes";
import { type Me, organizes, useMe } from "../roles";
import type { Screen } from "../route";
import { Resume, RunActions } from "../run_actions";
import { isOurs, publishedBy } from "../run_rules";
import { useSession } from "../session";
import { authorsOf } from "../teams";
import { deletedName, ended, nameOf, StateTag } from "../ui/run_state";
import { Busy, Heading, Items, Tag } from "../ui/show";
import { SignIn } from "../ui/sign_in_form";
import { SubmitLink } from "../ui/submit_link";
import { TaskFrame } from "../ui/task_nav";
import { Deadline, When } from "../ui/time";

type Run = Schemas["Run"];

export default function Runs({ params }: Screen) {
  const taskId = params.taskId;
  if (taskId)
    return (
      <TaskFrame taskId={taskId} title="My runs" at="/runs">
        {({ me }) => <Of me={me} taskId={taskId} />}
      </TaskFrame>
    );
  return (
    <>
      <Heading title="My runs">My runs</Heading>
      <OfAll />
    </>
  );
}

function OfAll() {
  const me = useMe();
  return (
    <>
      {me?.deletedTasks?.map(d => (
        <p key={d.taskId} class="notice">
          The organizers have deleted <bdi>{d.taskName ?? "a task"}</bdi>. The runs of <bdi>{d.team}</bdi> in it are not
          listed{d.restorableUntil ? ", unless they restore it." : `. ${nobodyRestores}`}
        </p>
      ))}
      <Of me={me} />
    </>
  );
}

function Of({ me, taskId }: { me: Me | undefined; taskId?: string }) {
  const { signedIn } = useSession();
  const teams = me?.registrations.filter(r => !taskId || r.taskId === taskId) ?? [];
  const authors = useAuthors(teams);
  if (me && authors) return <List me={me} authors={authors} taskId={taskId} />;
  return signedIn ? <Busy /> : <SignIn />;
}

/** useAuthors returns the ids of all users who can have submitted runs for the teams. A run belongs to the whole team. */
function useAuthors(teams: Me["registrations"]): string[] | undefined {
  const { data } = useSWR(["members", teams.map(t => t.registrationId)], () =>
    Promise.all(
      teams.map(t => read("/v1/tasks/{taskId}/registrations/{registrationId}", { path: t }).then(authorsOf, () => [])),
    ),
  );
  return data && [...new Set(data.flat())];
}

/** whileRunning returns in how many milliseconds runs are read again while one has not ended; 0: with the screen. */
export const whileRunning = (pages?: { data: Run[] }[]): number =>
  pages?.some(p => p?.data.some(r => !ended(r))) ? 2000 : 0;

function List({ me, authors, taskId }: { me: Me; authors: string[]; taskId?: string }) {
  const users = [...new Set([me.id, ...authors])].slice(0, 50);
  const all = useList(
    "/v1/runs",
    { query: { "filter[userId]": users, ...(taskId && { "filter[taskId]": [taskId] }) } },
    { refreshInterval: whileRunning },
  );
  // Runs that a member submitted with another team do not belong to the reader.
  const runs = { ...all, items: all.items?.filter(r => isOurs(me, r)) };
  const to = taskId ? (
    <SubmitLink taskId={taskId}>Submit the first</SubmitLink>
  ) : (
    <>
      Choose a <a href="#/?show=open">task</a>, and submit one.
    </>
  );
  return (
    <>
      <DeletedByOrganizers me={me} taskId={taskId} />
      <Items
        of={runs}
        empty={
          <>
            <p>
              {!taskId && me.deletedTasks?.length
                ? "There is no other run of yours or of your teams."
                : "There is no run of yours or of your teams yet."}{" "}
              {to}
            </p>
            <p class="small">Runs that you submitted with a team stay with the team after you leave it.</p>
          </>
        }
      >
        {items => <Rows of={items} oneTask={taskId !== undefined} />}
      </Items>
    </>
  );
}

/** DeletedByOrganizers names the submissions and runs of the reader's teams that organizers deleted and can restore. */
function DeletedByOrganizers({ me, taskId }: { me: Me; taskId?: string }) {
  const query = {
    "filter[kind]": ["submission", "run"] as ("submission" | "run")[],
    ...(taskId && { "filter[taskId]": [taskId] }),
  };
  const all = useList(me.registrations.length > 0 ? "/v1/deletions" : null, { query }).items ?? [];
  const ours = all.filter(d => d.byOrganizers && me.registrations.some(r => r.registrationId === d.registrationId));
  return (
    <>
      {ours.map(d => (
        <p key={d.id} class="notice">
          The organizers deleted <bdi>{deletedName(d)}</bdi>, <When at={d.createdAt} />. Only they can restore it, until{" "}
          <Deadline at={d.expiresAt} />. Ask them about it.
        </p>
      ))}
    </>
  );
}

export function Rows({ of, oneTask }: { of: Run[]; oneTask: boolean }) {
  return (
    <ul class="rows">
      {chunks(of, most).map((runs, i) => (
        <Some key={i} of={runs} oneTask={oneTask} />
      ))}
    </ul>
  );
}

const most = 50; // largest number of runs whose scores one request reads

function Some({ of, oneTask }: { of: Run[]; oneTask: boolean }) {
  const measured = of.filter(r => r.evaluationId).map(r => r.id);
  const scores = useGet(
    measured.length > 0 ? "/v1/evaluations" : null,
    { query: { "filter[runId]": measured, limit: 100 } },
    { keepPreviousData: true },
  );
  return (
    <>
      {of.map(r => (
        <Row key={r.id} of={r} score={scores.data?.data.find(e => e.runId === r.id)} oneTask={oneTask} />
      ))}
    </>
  );
}

function Row({ of: r, score, oneTask }: { of: Run; score: Schemas["Evaluation"] | undefined; oneTask: boolean }) {
  const dataset = useGet("/v1/datasets/{datasetId}", { path: { datasetId: r.datasetId } }).data;
  const task = useGet("/v1/tasks/{taskId}", { path: { taskId: r.taskId } }).data;
  const me = useMe();
  const published = publishedBy(score);
  const organizer = task !== undefined && organizes(me, task.organizerId);
  const unscored = r.state !== "completed" || !r.evaluationId; // No score that is still being read can tell it.
  const unknown = task && !organizer && ended(r) && published === undefined && (unscored || score);
  const review = useGet(unknown ? "/v1/runs/{runId}/review" : null, { path: { runId: r.id } }).data;
  const fault = r.diagnostics.find(d => d.severity === "error");
  return (
    <li>
      <div>
        <a href={`#/runs/${r.id}`}>
          <bdi>{nameOf(r)}</bdi>
        </a>{" "}
        <StateTag of={r.state} /> {r.final && <Tag kind="good">final</Tag>}{" "}
        {score && (
          <>
            <strong class="number">{scoreOf(score, dataset)}</strong>{" "}
            <span class="small">
              <bdi>{scoreName(score, dataset)}</bdi>
            </span>
          </>
        )}
        <span class="small">{waitsFor(r, dataset)}</span>
        <br />
        <span class="small quiet">
          {task && !oneTask && (
            <>
              <bdi>{task.name}</bdi> ·{" "}
            </>
          )}
          <bdi>{dataset?.name ?? "…"}</bdi> · <When at={r.createdAt} />
        </span>
        {fault && (
          <p class="small fault">
            {clauseOf(fault)}
            {fault.message}
            {r.diagnostics.length > 1 && `; and ${r.diagnostics.length - 1} more`}
          </p>
        )}
        {noticeOf(r, dataset) && <p class="small">{noticeOf(r, dataset)}</p>}
        {r.state === "awaiting-upload" && <Resume of={r} />}
      </div>
      <RunActions of={r} dataset={dataset} organizer={organizer} ours published={published ?? review?.published} />
    </li>
  );
}

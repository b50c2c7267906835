// The open work in one task, for organizers: registrations, reviews and announcements.
import { useState } from "preact/hooks";
import { patch, post, remove, type Schemas } from "../api";
import { done, refresh, useGet, useList } from "../data";
import { Problem } from "../problem";
import { chunks } from "../review_changes";
import { conclude } from "../reviews";
import { organizes } from "../roles";
import { type Screen, view } from "../route";
import { OneDataset, Select, SelectAll, Tabs } from "../ui/choices";
import { Decide, decide, peopleOf, stateKinds } from "../ui/decide";
import { Area, Text } from "../ui/fields";
import { Form } from "../ui/form";
import { Invitations } from "../ui/invitations";
import { Markdown } from "../ui/lazy";
import { nameOf, StateTag, scoreOf } from "../ui/run_state";
import { Action, Failure, Items, Listed, Tag } from "../ui/show";
import { say } from "../ui/status";
import { TaskFrame } from "../ui/task_nav";
import { When } from "../ui/time";
import { mergePatch } from "../ui/values";

const parts = { runs: "Runs", registrations: "Teams", announcements: "Announcements" };

export default function TaskDesk({ params, query }: Screen) {
  const at = (query.get("part") ?? "runs") as keyof typeof parts;
  return (
    <TaskFrame taskId={params.taskId!} title="Manage" at="/desk">
      {({ task, me }) =>
        !me || !organizes(me, task.organizerId) ? (
          <p class="empty">Only the organizers of the task can manage it.</p>
        ) : (
          <>
            <Tabs label="What to manage" options={parts} value={at} choose={part => view(query, { part })} />
            {at === "runs" && (
              <OneDataset
                taskId={task.id}
                query={query}
                empty={
                  <p>
                    The task has no dataset. <a href={`#/tasks/${task.id}/datasets/new`}>Add one</a>
                  </p>
                }
              >
                {d => <Reviews key={d.id + query.get("state")} of={d} query={query} />}
              </OneDataset>
            )}
            {at === "registrations" && <Teams taskId={task.id} />}
            {at === "announcements" && <Announcements taskId={task.id} />}
            <p class="actions small">
              <a href={`#/tasks/${task.id}/webhooks`}>Webhooks</a>
              <a href={`#/tasks/${task.id}/audit`}>Audit trail</a>
              <a href={`#/trash?task=${task.id}`}>Trash</a>
            </p>
          </>
        )
      }
    </TaskFrame>
  );
}

type Run = Schemas["Run"];
const states = { completed: "Completed", failed: "Failed", all: "All" };
const bulk: [said: string, change: Schemas["ReviewChange"], became: string][] = [
  ["Unblind and publish", { blinded: false, published: true }, "published"],
  ["Unblind", { blinded: false }, "unblinded"],
  ["Withdraw", { published: false }, "withdrawn"],
  ["Blind", { blinded: true, published: false }, "blinded"],
];
const seenBy = { everyone: "published", registrants: "published", owners: "not published", organizers: "blinded" };

/** Reviews shows the runs on a dataset. The buttons review all ticked runs together. */
function Reviews({ of: d, query }: { of: Schemas["Dataset"]; query: URLSearchParams }) {
  const state = (query.get("state") ?? "completed") as keyof typeof states;
  const runs = useList(
    "/v1/runs",
    { query: { "filter[datasetId]": [d.id], limit: 50, ...(state !== "all" && { "filter[state]": [state] }) } },
    { refreshInterval: 20_000 },
  );
  const ids = runs.items?.map(r => r.id) ?? [];
  const [ticked, setTicked] = useState<string[]>([]);
  const [failures, setFailures] = useState<Schemas["ReviewedRun"][]>([]);
  const chosen = ids.filter(id => ticked.includes(id)); // Ticked runs may have left the list since.
  const act = async (change: Schemas["ReviewChange"], became: string): Promise<void> => {
    const { failed, undo } = await conclude(
      chosen.map(runId => ({ runId, datasetId: d.id })),
      change,
    );
    const count = chosen.length - failed.length;
    setFailures(failed);
    setTicked(failed.map(a => a.runId));
    await refresh();
    say(`${count} ${count === 1 ? "run is" : "runs are"} ${became}.`, () => undo().then(refresh));
  };
  return (
    <>
      <Select
        id="state"
        label="State of the runs"
        options={states}
        value={state}
        choose={s => view(query, { state: s })}
      />
      <Items
        of={runs}
        empty={
          <p>
            No run is here. Teams submit by the page of the task; a baseline shows them what to expect:{" "}
            <a href={`#/tasks/${d.taskId}/submit?baseline=1`}>submit a baseline</a>.
          </p>
        }
      >
        {items => (
          <>
            <p class="actions">
              <SelectAll ids={ids} chosen={chosen.length} tick={setTicked} />
              {chosen.length > 0 &&
                bulk.map(([said, change, became]) => (
                  <Action key={said} plain label={`${said}: ${chosen.length}`} run={() => act(change, became)}>
                    {said}
                  </Action>
                ))}
            </p>
            {failures.map(f => f.problem && <Failure key={f.runId} of={new Problem(f.problem)} />)}
            {chunks(items, 50).map((page, i) => (
              <Rows key={i} of={page} ticked={ticked} tick={setTicked} />
            ))}
          </>
        )}
      </Items>
    </>
  );
}

/** Rows shows the runs of one page. One request reads their evaluations. */
function Rows({ of: runs, ticked, tick }: { of: Run[]; ticked: string[]; tick: (ids: string[]) => void }) {
  const scores = useGet(
    "/v1/evaluations",
    { query: { "filter[runId]": runs.map(r => r.id), limit: 100 } },
    { keepPreviousData: true },
  );
  return (
    <ul class="rows">
      {runs.map(r => {
        const e = scores.data?.data.find(s => s.runId === r.id);
        return (
          <li key={r.id}>
            <label>
              <input
                type="checkbox"
                checked={ticked.includes(r.id)}
                onChange={c => tick(c.currentTarget.checked ? [...ticked, r.id] : ticked.filter(t => t !== r.id))}
              />{" "}
              <bdi>{r.team}</bdi>
              {nameOf(r) !== r.team && (
                <>
                  : <bdi>{nameOf(r)}</bdi>
                </>
              )}{" "}
              <StateTag of={r.state} />{" "}
              {e && <Tag kind={e.audience === "everyone" ? "good" : "warm"}>{seenBy[e.audience]}</Tag>}{" "}
              {e && <strong class="number">{scoreOf(e)}</strong>}
            </label>
            {r.diagnostics[0] && (
              <span class={`small ${r.state === "failed" ? "fault" : "quiet"}`}>{r.diagnostics[0].message}</span>
            )}
            <span class="small quiet">
              <When at={r.createdAt} />
            </span>
            <a href={`#/runs/${r.id}/review`} aria-label={`Review ${nameOf(r)} of ${r.team}`}>
              Review
            </a>
          </li>
        );
      })}
    </ul>
  );
}

function Teams({ taskId }: { taskId: string }) {
  const all = useList("/v1/tasks/{taskId}/registrations", { path: { taskId }, query: { limit: 100 } });
  const waiting = all.items?.filter(r => r.state === "pending") ?? [];
  return (
    <>
      {waiting.length > 1 && (
        <p class="actions">
          <Action run={() => decide(waiting, "accepted", all.reload)}>Accept all {waiting.length} that wait</Action>
        </p>
      )}
      <Listed
        of={all}
        first={r => r.state === "pending"}
        empty={<p>No team takes part yet. Send the address of the task to those who might, or invite them.</p>}
      >
        {r => (
          <>
            <span>
              <a href={`#/tasks/${taskId}/registrations/${r.id}`}>
                <bdi>{r.team}</bdi>
              </a>{" "}
              <Tag kind={stateKinds[r.state]}>{r.state}</Tag> {r.anonymous && <Tag>anonymous</Tag>}
              <br />
              <span class="small quiet">
                <bdi>
                  {[...peopleOf(r).map(p => p.name || p.email || p.id), r.affiliation].filter(Boolean).join(", ")}
                </bdi>
              </span>
            </span>
            <Decide of={r} changed={all.reload} />
          </>
        )}
      </Listed>
      <h3>Invitations</h3>
      <Invitations to={{ taskId }} what="a team" />
    </>
  );
}

function Announcements({ taskId }: { taskId: string }) {
  const all = useList("/v1/tasks/{taskId}/announcements", { path: { taskId } });
  const one = "/v1/tasks/{taskId}/announcements/{announcementId}";
  const fields = (f: Parameters<Parameters<typeof Form>[0]["children"]>[0]) => (
    <>
      <Text f={f} name="title" label="Title" required max={200} />
      <Area f={f} name="body" label="Text" hint="Markdown." />
    </>
  );
  const drop = (a: Schemas["Announcement"]): Promise<void> =>
    done(
      remove(one, { taskId, announcementId: a.id }),
      "The announcement is deleted. E-mails that were sent stay sent.",
    );
  return (
    <>
      <Form
        name={`announcement ${taskId}`}
        initial={{}}
        button="Announce"
        submit={v =>
          done(
            post("/v1/tasks/{taskId}/announcements", { taskId }, v),
            "Announced. The page of the task shows it; teams that take part get an e-mail, where this server sends any.",
          )
        }
      >
        {fields}
      </Form>
      <Items of={all} empty={<p>Nothing was announced yet.</p>}>
        {items => (
          <>
            {items.map(a => (
              <article class="card" key={a.id}>
                <h3>
                  <bdi>{a.title}</bdi>{" "}
                  <span class="small quiet">
                    <When at={a.createdAt} />
                  </span>
                </h3>
                {a.body && <Markdown source={a.body} top={4} />}
                <details>
                  <summary>Change</summary>
                  <Form
                    name={`announcement ${a.id}`}
                    initial={{ title: a.title, body: a.body }}
                    submit={(v, base) =>
                      done(
                        patch(one, { taskId, announcementId: a.id }, mergePatch(base, v)),
                        "Saved. It is not sent again.",
                      )
                    }
                  >
                    {fields}
                  </Form>
                  <Action plain label={`Delete ${a.title}`} ask="It cannot be restored." run={() => drop(a)}>
                    Delete
                  </Action>
                </details>
              </article>
            ))}
          </>
        )}
      </Items>
    </>
  );
}

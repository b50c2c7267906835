// The open work in one task, for organizers: registrations, reviews and announcements.
import { useState } from "preact/hooks";
import type { Schemas } from "../api";
import { markOf } from "../board_reason";
import { withheldNote } from "../column_rules";
import { scoreOf } from "../columns";
import { useList } from "../data";
import { personOf } from "../known_names";
import { count } from "../plural";
import { Problem } from "../problem";
import { change as publish, question } from "../publishing";
import { publishable, publishingVerb } from "../publishing_question";
import { refresh } from "../refresh";
import { concluded, mayChange } from "../review_changes";
import { conclude } from "../reviews";
import { organizes } from "../roles";
import { type Screen, view } from "../route";
import { useScores } from "../scores";
import { closedForTeams, noRunNote, truthState } from "../stage";
import { useStages } from "../task_stages";
import { noTeam } from "../task_steps";
import { teamName } from "../team_name";
import { useRejected } from "../teams";
import { OneDataset, Select, SelectAll, Tabs } from "../ui/choices";
import { Decide, decide, peopleOf, stateKinds } from "../ui/decide";
import { Invitations } from "../ui/invitations";
import { nameOf, StateTag } from "../ui/run_state";
import { Action, Failure, Items, Listed, Tag, Unread } from "../ui/show";
import { say } from "../ui/status";
import { TaskFrame } from "../ui/task_nav";
import { When } from "../ui/time";
import { Announcements } from "./announcements";

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
                {d => <Reviews key={d.id + query.get("state")} of={d} task={task} query={query} />}
              </OneDataset>
            )}
            {at === "registrations" && <Teams of={task} />}
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

/** Decision is a change of reviews, with the state of the changed runs and of those that had it before, in words. */
type Decision = { verb: string; change: Schemas["ReviewChange"]; became: string; was: string };
const publication = { change: publish, became: "published", was: "published and not blinded" };
const decisions: Decision[] = [
  { verb: "Unblind", change: { blinded: false }, became: "unblinded", was: "not blinded" },
  { verb: "Unpublish", change: { published: false }, became: "no longer published", was: "not published" },
  {
    verb: "Blind and unpublish",
    change: { blinded: true, published: false },
    became: "blinded and not published",
    was: "blinded and not published",
  },
];

type OfReviews = { of: Schemas["Dataset"]; task: Schemas["Task"]; query: URLSearchParams };

/** Reviews shows the runs on a dataset. The buttons review all ticked runs together. */
function Reviews({ of: d, task, query }: OfReviews) {
  const state = (query.get("state") ?? "completed") as keyof typeof states;
  const runs = useList("/v1/runs", {
    query: { "filter[datasetId]": [d.id], limit: 50, ...(state !== "all" && { "filter[state]": [state] }) },
  });
  const ids = runs.items?.map(r => r.id) ?? [];
  const [ticked, setTicked] = useState<string[]>([]);
  const [failures, setFailures] = useState<Schemas["ReviewedRun"][]>([]);
  const rejections = useRejected([d.taskId]);
  const rejected = rejections.data?.get(d.taskId);
  const candidates = (runs.items ?? [])
    .filter(r => ticked.includes(r.id)) // Ticked runs may have left the list since.
    .map(r => ({
      runId: r.id,
      datasetId: d.id,
      team: r.team,
      registrationId: r.registrationId,
      rejected: rejected?.has(r.registrationId ?? ""),
    }));
  const scores = useScores(ids);
  const scoreIn = (runId: string): Schemas["Evaluation"] | undefined => scores.data?.find(e => e.runId === runId);
  const open = ({ change }: Pick<Decision, "change">): typeof candidates =>
    candidates.filter(c => mayChange(scoreIn(c.runId), change));
  const publishing = open(publication);
  const verb = publishingVerb(publishing.map(c => scoreIn(c.runId)));
  const act = async (decision: Omit<Decision, "verb">, of: typeof candidates): Promise<void> => {
    const { change } = decision;
    const { changed, failed, withheld, undo } = await conclude(of, change);
    setFailures(failed);
    setTicked(failed.map(a => a.runId));
    await refresh();
    say(
      `${concluded(changed, of.length - changed - failed.length, decision)}${change.published && changed > 0 && withheld ? ` ${withheldNote(d.columns)}` : ""}`,
      changed > 0 ? () => undo().then(refresh) : undefined,
    );
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
          state === "all" ? (
            <p>
              {noRunNote(d, task)}{" "}
              {truthState(d) === "accepted" && (
                <a href={`#/tasks/${d.taskId}/submit?baseline=1`}>Submit a baseline for comparison</a>
              )}
            </p>
          ) : (
            <p>
              No run on this dataset {state === "failed" ? "has failed" : "is completed"}. “{states.all}” lists runs of
              every state.
            </p>
          )
        }
      >
        {items => (
          <>
            <p class="actions">
              <SelectAll ids={ids} chosen={candidates.length} tick={setTicked} />
              {publishable(publishing).length > 0 && rejected && (
                <Action
                  plain
                  ask={() => question(verb, publication.change, publishing)}
                  run={() => act(publication, publishable(publishing))}
                >
                  {verb} {count(publishable(publishing).length, "run")}
                </Action>
              )}
              {decisions
                .filter(decision => open(decision).length > 0)
                .map(decision => (
                  <Action
                    key={decision.verb}
                    plain
                    ask={
                      decision.change.blinded === false
                        ? () => question(decision.verb, decision.change, open(decision))
                        : undefined
                    }
                    run={() => act(decision, open(decision))}
                  >
                    {decision.verb} {count(open(decision).length, "run")}
                  </Action>
                ))}
            </p>
            <Unread of={scores}>The evaluations of the runs cannot be read, so this list lacks their scores.</Unread>
            {publishing.length > 0 && (
              <Unread of={rejections}>
                Which teams were rejected cannot be read, so runs cannot be published together here now.
              </Unread>
            )}
            {failures.map(f => f.problem && <Failure key={f.runId} of={new Problem(f.problem)} />)}
            <Rows of={items} dataset={d} scoreIn={scoreIn} ticked={ticked} tick={setTicked} rejected={rejected} />
          </>
        )}
      </Items>
    </>
  );
}

function Rows({
  of: runs,
  dataset,
  scoreIn,
  ticked,
  tick,
  rejected,
}: {
  of: Run[];
  dataset: Schemas["Dataset"];
  scoreIn: (runId: string) => Schemas["Evaluation"] | undefined;
  ticked: string[];
  tick: (ids: string[]) => void;
  rejected: Set<string> | undefined;
}) {
  return (
    <ul class="rows">
      {runs.map(r => {
        const e = scoreIn(r.id);
        return (
          <li key={r.id}>
            <label>
              <input
                type="checkbox"
                checked={ticked.includes(r.id)}
                onChange={c => tick(c.currentTarget.checked ? [...ticked, r.id] : ticked.filter(t => t !== r.id))}
              />{" "}
              <bdi>{teamName(r)}</bdi>
              {nameOf(r) !== r.team && (
                <>
                  : <bdi>{nameOf(r)}</bdi>
                </>
              )}{" "}
              <StateTag of={r.state} /> {r.final && <Tag kind="good">final</Tag>}{" "}
              {rejected?.has(r.registrationId ?? "") && <Tag kind="bad">team rejected</Tag>}{" "}
              {e && <Tag kind={e.hidden ? "warm" : "good"}>{markOf(e) || "published"}</Tag>}{" "}
              {e && <strong class="number">{scoreOf(e, dataset)}</strong>}
            </label>
            {r.diagnostics[0] && (
              <span class={`small ${r.state === "failed" ? "fault" : "quiet"}`}>{r.diagnostics[0].message}</span>
            )}
            <span class="small quiet">
              <When at={r.createdAt} />
            </span>
            <a href={`#/runs/${r.id}/review`} aria-label={`Review ${nameOf(r)} of ${teamName(r)}`}>
              Review
            </a>
          </li>
        );
      })}
    </ul>
  );
}

function Teams({ of: task }: { of: Schemas["Task"] }) {
  const taskId = task.id;
  const all = useList("/v1/tasks/{taskId}/registrations", { path: { taskId }, query: { limit: 100 } });
  const past = useStages([task])?.(task).stage === "past";
  const waiting = all.items?.filter(r => r.state === "pending") ?? [];
  return (
    <>
      {waiting.length > 1 && (
        <p class="actions">
          <Action run={() => decide(waiting, "accepted", all.reload)}>
            Accept all {waiting.length} teams that wait
          </Action>
        </p>
      )}
      <Listed of={all} first={r => r.state === "pending"} empty={<p>{noTeam(task)}</p>}>
        {r => (
          <>
            <span>
              <a href={`#/tasks/${taskId}/registrations/${r.id}`}>
                <bdi>{teamName(r)}</bdi>
              </a>{" "}
              <Tag kind={stateKinds[r.state]}>{r.state}</Tag> {r.anonymous && <Tag>anonymous</Tag>}
              <br />
              <span class="small quiet">
                <bdi>{[...peopleOf(r).map(personOf), r.affiliation].filter(Boolean).join(", ")}</bdi>
              </span>
            </span>
            <Decide of={r} changed={all.reload} />
          </>
        )}
      </Listed>
      <h3>Invitations</h3>
      <Invitations
        to={{ taskId }}
        what="a team"
        notice={past && <p class="notice">{closedForTeams} You can grant it a later close on its page.</p>}
      />
    </>
  );
}

// Everything that waits for the reader's organizers, over all of their tasks, in one list.
import { useState } from "preact/hooks";
import { patch, type Schemas } from "../api";
import { useList } from "../data";
import { useMe } from "../roles";
import { review, reviewsOf, takeBack } from "../reviews";
import { view, type Screen } from "../route";
import { useSession } from "../session";
import { Action, Busy, Heading, Items, Tag } from "../ui/show";
import { SignIn } from "../ui/sign_in_form";
import { say } from "../ui/status";
import { ago } from "../ui/time";

type Todo = Schemas["Todo"];

const kinds: Record<Todo["kind"], [said: string, kind?: "bad" | "warm"]> = {
  "registration.pending": ["wants to take part", "warm"], "run.unreviewed": ["has a run to review"], "run.failed": ["has a run that failed", "bad"],
  "workers.missing": ["has a run that no worker serves", "bad"],
};

export default function Desk({ query }: Screen) {
  const me = useMe();
  const { signedIn } = useSession();
  if (!me) return <><Heading title="Organize">Organize</Heading>{signedIn ? <Busy /> : <SignIn />}</>;
  const at = me.memberships.find(m => m.organizerId === query.get("organizer")) ?? me.memberships[0];
  return (
    <>
      <Heading title="Organize">Organize</Heading>
      {!at ? <p class="empty">You organize nothing yet. <a href="#/organizers/new">Name your organizer</a>, and then make its first task; or open the invitation that the members of one sent you.</p> : (
        <>
          <p class="actions"><a class="button" href={`#/tasks/new?organizer=${at.organizerId}`}>New task</a><a href={`#/organizers/${at.organizerId}`}><bdi>{at.organizerName ?? "The organizer"}</bdi></a><a href="#/?show=mine">Its tasks</a><a href="#/trash">Trash</a></p>
          {me.memberships.length > 1 && (
            <p class="tabs" role="group" aria-label="Organizer">
              {me.memberships.map(m => <button key={m.organizerId} type="button" aria-pressed={m === at} onClick={() => view(query, { organizer: m.organizerId })}><bdi>{m.organizerName ?? m.organizerId}</bdi></button>)}
            </p>
          )}
          <h2>What waits</h2>
          <Waiting key={at.organizerId} organizerId={at.organizerId} />
        </>
      )}
    </>
  );
}

const ofRun = (t: Todo): boolean => t.kind === "run.unreviewed" || t.kind === "run.failed";

function Waiting({ organizerId }: { organizerId: string }) {
  const all = useList("/v1/organizers/{organizerId}/todos", { params: { path: { organizerId }, query: { limit: 100 } } }, { refreshInterval: 20_000 });
  const [ticked, setTicked] = useState<string[]>([]);
  const chosen = all.items?.filter(t => ticked.includes(t.id)) ?? [];
  const settled = async (): Promise<void> => {
    setTicked([]);
    await all.reload();
  };
  const decide = async (ts: Todo[], state: "accepted" | "rejected"): Promise<void> => {
    const set = async (to: string): Promise<void> => {
      for (const t of ts) await patch("/v1/tasks/{taskId}/registrations/{registrationId}", { taskId: t.taskId, registrationId: t.registrationId! }, { state: to });
      await settled();
    };
    await set(state);
    say(`${ts.length === 1 ? ts[0]!.team : `${ts.length} teams`} ${state}.`, () => set("pending"));
  };
  const conclude = async (ts: Todo[], change: Schemas["ReviewChange"], done: string): Promise<void> => {
    const groups = Map.groupBy(ts, t => t.datasetId!);
    const before = new Map<string, Schemas["Review"][]>();
    for (const [datasetId, runs] of groups) {
      const ids = runs.map(t => t.runId!);
      before.set(datasetId, await reviewsOf(ids));
      const failed = (await review(datasetId, ids, change)).find(a => a.problem);
      if (failed) throw new Error(failed.problem!.detail);
    }
    await settled();
    say(`${ts.length} ${ts.length === 1 ? "run is" : "runs are"} ${done}.`, Object.keys(change).length > 0 ? async () => {
      for (const [datasetId, reviews] of before) await takeBack(datasetId, reviews);
      await settled();
    } : undefined);
  };
  const teams = chosen.filter(t => t.kind === "registration.pending"), runs = chosen.filter(ofRun);
  return (
    <Items of={all} empty={<p>Nothing waits for you. Teams that want to take part, runs to review and what went wrong come here.</p>}>
      {items => (
        <>
          <p class="actions">
            <label><input type="checkbox" checked={ticked.length === items.length} onChange={e => setTicked(e.currentTarget.checked ? items.map(t => t.id) : [])} /> All {items.length} shown</label>
            {teams.length > 0 && <><Action plain run={() => decide(teams, "accepted")}>Accept {teams.length}</Action><Action plain run={() => decide(teams, "rejected")}>Reject {teams.length}</Action></>}
            {runs.length > 0 && <><Action plain run={() => conclude(runs, { blinded: false, published: true }, "published")}>Unblind and publish {runs.length}</Action><Action plain run={() => conclude(runs, {}, "marked as seen")}>Mark {runs.length} as seen</Action></>}
          </p>
          <ul class="rows">
            {items.map(t => (
              <li key={t.id + t.kind}>
                <label>
                  <input type="checkbox" checked={ticked.includes(t.id)} onChange={e => setTicked(e.currentTarget.checked ? [...ticked, t.id] : ticked.filter(x => x !== t.id))} />{" "}
                  <bdi>{t.team}</bdi> <Tag kind={kinds[t.kind][1]}>{kinds[t.kind][0]}</Tag> <span class="small quiet"><bdi>{t.taskName ?? t.taskId}</bdi>, {ago(t.since)}</span>
                </label>
                {t.kind === "registration.pending"
                  ? (
                    <>
                      <Action plain label={`Accept ${t.team}`} run={() => decide([t], "accepted")}>Accept</Action>
                      <Action plain label={`Reject ${t.team}`} run={() => decide([t], "rejected")}>Reject</Action>
                      <a href={`#/tasks/${t.taskId}/registrations/${t.registrationId}`} aria-label={`Look at ${t.team}`}>Look</a>
                    </>
                  )
                  : <a href={`#/runs/${t.runId}/${ofRun(t) ? "review" : ""}`.replace(/\/$/, "")} aria-label={`${ofRun(t) ? "Review" : "Look at"} the run of ${t.team}`}>{ofRun(t) ? "Review" : "Look"}</a>}
              </li>
            ))}
          </ul>
        </>
      )}
    </Items>
  );
}

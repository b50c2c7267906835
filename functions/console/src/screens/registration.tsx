// A team, for organizers: members, the rest of its quota, and exceptions.

import { effects, post, remove, type Schemas } from "../api";
import { done, useGet, useList } from "../data";
import { grantableAgain, refundable, whenShown } from "../exception_words";
import { personOf } from "../known_names";
import { allOver } from "../quota_words";
import type { Screen } from "../route";
import { teamName } from "../team_name";
import { authorsOf } from "../teams";
import { asksForTerms } from "../terms";
import { Decide, peopleOf } from "../ui/decide";
import { Granted } from "../ui/exceptions";
import { Choice, Instant, Text, Whole } from "../ui/fields";
import { type Editing, Form } from "../ui/form";
import { TeamInvitations } from "../ui/invitations";
import { MakeOwner } from "../ui/make_owner";
import { Quotas } from "../ui/quota";
import { nameOf } from "../ui/run_state";
import { Action, Busy, Failure, Listed, Loaded, Tag } from "../ui/show";
import { TaskFrame } from "../ui/task_nav";
import { moment, When } from "../ui/time";
import { filled, type Values } from "../ui/values";

const path = "/v1/tasks/{taskId}/registrations/{registrationId}";

export default function Registration({ params }: Screen) {
  const ids = { taskId: params.taskId!, registrationId: params.registrationId! };
  const registration = useGet(path, { path: ids });
  return (
    <TaskFrame taskId={ids.taskId} title="Team" at="/registration">
      {({ task }) => (
        <Loaded of={registration}>
          {r => <One of={r} task={task} ids={ids} changed={() => registration.mutate()} />}
        </Loaded>
      )}
    </TaskFrame>
  );
}

type Props = {
  of: Schemas["Registration"];
  task: Schemas["Task"];
  ids: { taskId: string; registrationId: string };
  changed: () => Promise<unknown>;
};

const One = ({ of: r, task, ids, changed }: Props) => (
  <>
    <dl class="members">
      <dt>Name</dt>
      <dd>
        <bdi>{teamName(r)}</bdi> <Tag>{r.state}</Tag> <Decide of={r} changed={changed} all />
      </dd>
      <dt>Members</dt>
      <dd>
        {peopleOf(r).map(p => (
          <span key={p.id}>
            <bdi>{personOf({ id: p.id, name: p.name })}</bdi> {p.id === r.userId && <Tag>owner</Tag>}{" "}
            <span class="small quiet">
              <bdi>{p.email}</bdi>
            </span>{" "}
            {p.id !== r.userId && r.state !== "rejected" && <MakeOwner of={r} userId={p.id} name={personOf(p)} />}
            <br />
          </span>
        ))}
      </dd>
      {r.affiliation && (
        <>
          <dt>Affiliation</dt>
          <dd>
            <bdi>{r.affiliation}</bdi>
          </dd>
        </>
      )}
      {r.country && (
        <>
          <dt>Country</dt>
          <dd>
            <bdi>{r.country}</bdi>
          </dd>
        </>
      )}
      {r.contact && (
        <>
          <dt>Contact</dt>
          <dd>
            <bdi>{r.contact}</bdi>
          </dd>
        </>
      )}
      {(r.termsAcceptedAt || asksForTerms({ task, of: r })) && (
        <>
          <dt>Terms</dt>
          <dd>
            {r.termsAcceptedAt ? (
              <>
                version {r.acceptedTerms}, accepted <When at={r.termsAcceptedAt} />
              </>
            ) : (
              "not accepted"
            )}
            {asksForTerms({ task, of: r }) &&
              (allOver(r.quota)
                ? `. The present version is ${task.terms!.version}.`
                : `. The team cannot submit until it accepts version ${task.terms!.version} on its page Overview, Team or Submit.`)}
          </dd>
        </>
      )}
      {r.quota && (
        <>
          <dt>May submit</dt>
          <dd>
            <Quotas taskId={r.taskId} of={r.quota} state={r.state} />
          </dd>
        </>
      )}
    </dl>
    <h3>Invitations</h3>
    <TeamInvitations of={r} task={task} organizes />
    <h3>Exceptions</h3>
    <Exceptions task={task} of={r} ids={ids} />
  </>
);

function Exceptions({ task, of: r, ids }: Omit<Props, "changed">) {
  const shown = whenShown(r.state);
  const all = useList(`${path}/exceptions`, { path: ids });
  const sets = useList("/v1/datasets", { query: { "filter[taskId]": [ids.taskId] } });
  const runs =
    useList("/v1/runs", { query: { "filter[taskId]": [ids.taskId], "filter[userId]": authorsOf(r), limit: 100 } })
      .items ?? [];
  const datasets = sets.items;
  if (!datasets) return sets.error ? <Failure of={sets.error} retry={sets.reload} /> : <Busy />;
  const named = Object.fromEntries(datasets.map(d => [d.id, d.name]));
  const said = (r: Schemas["Run"]): string => `${nameOf(r)}, ${named[r.datasetId] ?? ""}, ${moment(r.createdAt)}`;
  const choices = (datasetId: unknown): Schemas["Run"][] => refundable(runs, all.items ?? [], datasetId);
  const choose =
    (f: Editing) =>
    (name: string, datasetId: unknown): void => {
      f.set(name, datasetId);
      if (!choices(datasetId).some(r => r.id === f.values.runId)) f.set("runId", undefined);
    };
  const grantable = (v: Values): Values => {
    if (v.closesAt || v.perDay || v.total || v.runId) return filled(v);
    throw new Error("Choose what the team gets: a later close, more runs, or a run that does not count in the quota.");
  };
  const withdraw = (e: Schemas["Exception"]): Promise<void> => {
    const others = all.items?.filter(o => o.id !== e.id) ?? [];
    const again = grantableAgain(e, others, task, datasets);
    return done(
      remove(`${path}/exceptions/{exceptionId}`, { ...ids, exceptionId: e.id }),
      "The exception is withdrawn.",
      again && (() => post(`${path}/exceptions`, ids, { ...again, reason: e.reason })),
    );
  };
  return (
    <>
      <Listed of={all} empty={<p>The team has the windows and quotas of everyone.</p>}>
        {e => (
          <>
            <span>
              Granted: <Granted of={e} task={task} datasets={datasets} runs={runs} />.{" "}
              <bdi class="quiet">{e.reason}</bdi>
            </span>
            <Action plain label={`Withdraw: ${e.reason}`} run={() => withdraw(e)}>
              Withdraw
            </Action>
          </>
        )}
      </Listed>
      <p>Grant at least one of a later close, more runs, and a run that does not count in the quota.</p>
      <Form
        name={`exception ${ids.registrationId}`}
        initial={{}}
        button="Grant"
        preview={async v => effects("POST", `${path}/exceptions`, ids, grantable(v))}
        submit={v => done(post(`${path}/exceptions`, ids, grantable(v)), shown.granted)}
      >
        {f => (
          <>
            <Choice
              f={{ ...f, set: choose(f) }}
              name="datasetId"
              label="For"
              options={{ "": "All datasets of the task", ...named }}
            />
            <Instant f={f} name="closesAt" label="A later close" />
            <Whole f={f} name="perDay" label="More runs in 24 hours" min={1} hint="Beyond the limit of everyone." />
            <Whole f={f} name="total" label="More runs in all" min={1} hint="Beyond the limit of everyone." />
            <Choice
              f={f}
              name="runId"
              label="A run that does not count in the quota"
              options={{ "": "None", ...Object.fromEntries(choices(f.values.datasetId).map(r => [r.id, said(r)])) }}
            />
            <Text f={f} name="reason" label="Reason" required max={500} hint={shown.reason} />
          </>
        )}
      </Form>
    </>
  );
}

// The audit entries of a task or an organizer: who changed what, when, and the former values.
import type { Schemas } from "../api";
import { type Change, changesIn, headingOf, type Reference, type Value } from "../audit_changes";
import { useGet, useList } from "../data";
import { personOf } from "../known_names";
import { gone } from "../problem";
import type { Screen } from "../route";
import { teamName } from "../team_name";
import { downloadList } from "../ui/download";
import { nameOf } from "../ui/run_state";
import { Action, Heading, Listed } from "../ui/show";
import { moment, When } from "../ui/time";

type Entry = Schemas["AuditEntry"];

export default function Audit({ params }: Screen) {
  const { taskId, organizerId } = params;
  const path = taskId ? "/v1/tasks/{taskId}/audit-entries" : "/v1/organizers/{organizerId}/audit-entries";
  const ids = taskId ? { taskId } : { organizerId: organizerId! };
  const all = useList(path as "/v1/tasks/{taskId}/audit-entries", { path: ids as { taskId: string } });
  const address = taskId ? `/v1/tasks/${taskId}` : `/v1/organizers/${organizerId}`;
  return (
    <>
      <p class="small">
        <a href={taskId ? `#/tasks/${taskId}/desk` : `#/organizers/${organizerId}`}>Back</a>
      </p>
      <Heading title="Audit trail">Audit trail</Heading>
      <Listed of={all} empty={<p>Nothing was done yet.</p>}>
        {e => <Line of={e} />}
      </Listed>
      {all.items && all.items.length > 0 && (
        <p>
          <Action plain run={() => downloadList(`${address}/audit-entries?limit=100`, "audit.csv")}>
            Download as CSV
          </Action>
        </p>
      )}
    </>
  );
}

/** screenOf returns the address of the screen of a subject, if it has one. */
function screenOf(subject: string): string | undefined {
  const [, path, dataset] =
    /^.v1.((?:tasks.\w+.registrations|tasks|organizers|runs|(datasets)).\w+)/.exec(subject) ?? [];
  if (!path) return undefined;
  return dataset ? `${path}/edit` : path;
}

const subjects = {
  runs: "/v1/runs/{runId}",
  datasets: "/v1/datasets/{datasetId}",
  tasks: "/v1/tasks/{taskId}",
  organizers: "/v1/organizers/{organizerId}",
} as const;

/** pathOf returns the path and the id of the resource that a subject belongs to, such as the run of a review. */
function pathOf(subject: string): { path: string; ids: Record<string, string>; id: string } | undefined {
  const [, taskId, part, partId] = /^\/v1\/tasks\/(\w+)\/(registrations|submissions)\/(\w+)/.exec(subject) ?? [];
  if (taskId && part && partId) {
    const parameter = part === "registrations" ? "registrationId" : "submissionId";
    return { path: `/v1/tasks/{taskId}/${part}/{${parameter}}`, ids: { taskId, [parameter]: partId }, id: partId };
  }
  const [, kind, id] = /^\/v1\/(runs|datasets|tasks|organizers)\/(\w+)/.exec(subject) ?? [];
  if (!kind || !id) return undefined;
  const path = subjects[kind as keyof typeof subjects];
  return { path, ids: { [/\{(\w+)\}/.exec(path)![1]!]: id }, id };
}

type Named = {
  alias?: string;
  anonymous?: boolean;
  name?: string;
  title?: string;
  label?: string;
  runTag?: string;
  team?: string;
  datasetId?: string;
  registrationId?: string;
};

/** Name is the name of a dataset or a run. A deleted one has the end of its id. */
function Name({ of: { kind, id } }: { of: Reference }) {
  const path = subjects[kind] as "/v1/runs/{runId}";
  const read = useGet(path, { path: { [kind === "runs" ? "runId" : "datasetId"]: id } as { runId: string } });
  const { name, ...run } = (read.data ?? {}) as Named;
  if (!read.data && !read.error) return null;
  const missing = gone(read.error) ? "a deleted dataset" : "a dataset";
  return <bdi>{kind === "runs" ? nameOf({ ...run, id }) : (name ?? `${missing} (…${id.slice(-6)})`)}</bdi>;
}

/**
 * Subject names the resource that an entry is about: a run with its team and dataset, a submission with its team. The
 * entry names a deleted one and its team, or the people whom it belonged to if the team is gone too.
 */
function Subject({ of: e }: { of: Entry }) {
  const at = pathOf(e.subject);
  const read = useGet(at ? (at.path as "/v1/runs/{runId}") : null, { path: (at?.ids ?? {}) as { runId: string } });
  const kept: Named = { ...(e.before as Named | undefined), ...(e.after as Named | undefined) };
  const found = read.data as Named | undefined;
  const run = at?.path === subjects.runs;
  const name = run ? nameOf({ ...kept, ...found, id: at.id }) : found?.name || found?.title || kept.name || kept.title;
  const people = (e.users ?? []).map(personOf).join(", ");
  const deleted = gone(read.error) && (run || !name);
  const { registrationId } = deleted ? kept : {};
  const registered = useGet(registrationId && e.taskId ? "/v1/tasks/{taskId}/registrations/{registrationId}" : null, {
    path: { taskId: e.taskId ?? "", registrationId: registrationId ?? "" },
  });
  const owner = found ?? registered.data;
  const shown = owner?.team && teamName({ ...owner, team: owner.team });
  const team = shown || kept.team || (deleted ? people : "");
  const datasetId = run ? (found?.datasetId ?? kept.datasetId) : undefined;
  return (
    <>
      <bdi>{[name, team].filter((n, i, all) => n && all.indexOf(n) === i).join(" of ")}</bdi>
      {datasetId && (
        <>
          {" "}
          on <Name of={{ kind: "datasets", id: datasetId }} />
        </>
      )}
    </>
  );
}

const long = 3; // changes that are folded

const Shown = ({ of }: { of: Value }) =>
  typeof of === "string" ? (
    <bdi>{of}</bdi>
  ) : (
    of.map((one, i) => (
      <span key={one.id}>
        {i > 0 && ", "}
        <Name of={one} />
      </span>
    ))
  );

const Changes = ({ of }: { of: Change[] }) => (
  <ul class="small">
    {of.map(c => (
      <li key={c.name}>
        {c.name}:{" "}
        {c.from !== undefined && (
          <>
            <Shown of={c.from} />
            {c.to !== undefined && " → "}
          </>
        )}
        {c.to !== undefined && (
          <strong>
            <Shown of={c.to} />
          </strong>
        )}
      </li>
    ))}
  </ul>
);

function Line({ of: e }: { of: Entry }) {
  const at = screenOf(e.subject);
  const changes = changesIn(e);
  return (
    <div>
      <strong>{headingOf(e)}</strong>: <Subject of={e} />, by <bdi>{personOf(e.actor ?? { id: e.actorId })}</bdi>,{" "}
      <When at={e.createdAt} />{" "}
      {at && (
        <a class="small" href={`#/${at}`} aria-label={`View what was changed ${moment(e.createdAt)}`}>
          View
        </a>
      )}
      {changes.length > long ? (
        <details>
          <summary>Changes</summary>
          <Changes of={changes} />
        </details>
      ) : (
        changes.length > 0 && <Changes of={changes} />
      )}
    </div>
  );
}

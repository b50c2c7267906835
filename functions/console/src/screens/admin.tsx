// The platform, for administrators: health, queues with their workers, storage, and featured tasks.

import type { ComponentChildren } from "preact";
import { patch, type Schemas } from "../api";
import { done, useGet, useList } from "../data";
import { personOf } from "../known_names";
import { separate } from "../member_names";
import type { Screen } from "../route";
import { bytes } from "../ui/files";
import { Action, Heading, Items, Listed, Loaded, Members, Table, Tag } from "../ui/show";
import { ago } from "../ui/time";

export default function Admin(_: Screen) {
  const storage = useGet("/v1/platform/storage", {});
  return (
    <>
      <Heading title="Admin">Admin</Heading>
      <p class="tabs">
        <a href="#/admin" aria-current="page">
          Platform
        </a>{" "}
        <a href="#/admin/users">Users</a>
      </p>
      <Health />
      <Loaded of={storage}>
        {s => (
          <>
            <h2>Queues</h2>
            <Queues />
            <h2>Storage</h2>
            <Usage taken={s.taken} limits={s.limits} />
            {s.files && (
              <p class="small quiet">
                {s.files.files} files, {s.files.inTrash} of them in the trash; counted {ago(s.files.countedAt)}.
              </p>
            )}
            <h3>Users who store most</h3>
            <ByUser />
            <h2>Featured tasks</h2>
            <Featured />
          </>
        )}
      </Loaded>
    </>
  );
}

function Health() {
  const health = useGet("/health", {});
  const info = useGet("/info", {}).data;
  const warnings = health.error ? [] : Object.values(health.data?.checks ?? {}).flatMap(c => c.output ?? []);
  return (
    <>
      <p>
        {health.error && <Tag kind="bad">down</Tag>}
        {!health.error &&
          health.data &&
          (warnings.length > 0 ? <Tag kind="warm">up, with warnings</Tag> : <Tag kind="good">up</Tag>)}
        {!health.error && !health.data && <Tag>…</Tag>} {health.error?.document.detail}{" "}
        <span class="quiet">
          Version {info?.version ?? "…"}
          {info?.commit && `, ${info.commit.slice(0, 8)}`}
        </span>
      </p>
      {warnings.map(text => (
        <p key={text} class="notice">
          {text}
        </p>
      ))}
    </>
  );
}

function Queues() {
  const all = useList("/v1/platform/queues", {});
  return (
    <Items of={all} empty={<p>Nothing waits for workers, and none was seen.</p>}>
      {items => (
        <Table label="Queues" head={["Pool", "Work", { number: "Waiting" }, "Oldest", "Worker seen"]}>
          {items.map(q => (
            <tr key={`${q.pool} ${q.work}`}>
              <th scope="row">
                <bdi>{q.pool}</bdi>
              </th>
              <td>{q.work}</td>
              <td class="number">{q.runs}</td>
              <td>{q.waitingSince ? ago(q.waitingSince) : "–"}</td>
              <td>
                <WorkerSeen of={q} />
              </td>
            </tr>
          ))}
        </Table>
      )}
    </Items>
  );
}

function WorkerSeen({ of: q }: { of: Schemas["Queue"] }) {
  if (q.pool === "(builtin)") return <>needs none</>;
  if (q.workerSeenAt) return <>{ago(q.workerSeenAt)}</>;
  return <Tag kind={q.runs > 0 ? "bad" : "warm"}>never</Tag>;
}

function ByUser() {
  const all = useList("/v1/platform/storage/users", { query: { limit: 20 } });
  return (
    <Listed of={all} empty={<p>Nobody stores anything.</p>}>
      {u => (
        <>
          <a href={`#/admin/users/${u.id}`}>
            <bdi>{personOf(u)}</bdi>
          </a>
          <span>
            {bytes(u.taken!.storedBytes)}
            {u.limits!.storedBytes > 0 && <> of {bytes(u.limits!.storedBytes)}</>}
          </span>
        </>
      )}
    </Listed>
  );
}

const sizes = ["storedBytes", "pendingBytes", "pendingFiles"] as const;
const said = { storedBytes: "Stored", pendingBytes: "Announced, not uploaded", pendingFiles: "Files announced" };

/** Usage shows the usage and the limits of quotas. */
export const Usage = ({ taken, limits }: { taken: Schemas["Taken"]; limits: Schemas["UsageLimits"] | undefined }) => (
  <Members
    of={[
      ...sizes.map((k): [string, ComponentChildren] => {
        const show = (v: number): string => (k === "pendingFiles" ? String(v) : bytes(v));
        const most = limits?.[k] ?? 0;
        return [
          said[k],
          <>
            {show(taken[k])}
            {most > 0 && (
              <>
                {" "}
                of {show(most)} <meter max={most} value={taken[k]} aria-label={said[k]} />
              </>
            )}
          </>,
        ];
      }),
      ...Object.entries(taken.perDay as Record<string, number>).map(([k, v]): [string, string] => [
        `${separate(k)} of 24 hours`,
        `${v}${limits ? ` of ${(limits.perDay as Record<string, number>)[k] || "any"}` : ""}`,
      ]),
    ]}
  />
);

function Featured() {
  const all = useList("/v1/tasks", { query: { "filter[visibility]": ["public"], limit: 100 } });
  const set = (t: Schemas["Task"], featured: boolean): Promise<unknown> =>
    patch("/v1/tasks/{taskId}", { taskId: t.id }, { featured });
  const feature = (t: Schemas["Task"], featured: boolean): Promise<void> =>
    done(set(t, featured), `${t.name} is ${featured ? "featured" : "no longer featured"}.`, () => set(t, !featured));
  return (
    <Listed of={all} first={t => t.featured} empty={<p>There is no public task.</p>}>
      {t => (
        <>
          <span>
            <a href={`#/tasks/${t.id}`}>
              <bdi>{t.name}</bdi>
            </a>{" "}
            {t.featured && <Tag kind="good">featured</Tag>}
          </span>
          <Action plain label={`${t.featured ? "Unfeature" : "Feature"} ${t.name}`} run={() => feature(t, !t.featured)}>
            {t.featured ? "Unfeature" : "Feature"}
          </Action>
        </>
      )}
    </Listed>
  );
}

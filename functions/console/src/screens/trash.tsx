// The trash: deleted resources that can be restored.

import { remove, type Schemas } from "../api";
import { done, read, useGet, useList } from "../data";
import { unmarkedAfter, unmarkedBefore } from "../deletion_words";
import { personOf } from "../known_names";
import { inWords } from "../member_names";
import { go, type Screen } from "../route";
import { deletedName } from "../ui/run_state";
import { Action, Heading, Listed, Tag } from "../ui/show";
import { Deadline, When } from "../ui/time";

export default function Trash({ query }: Screen) {
  const taskId = query.get("task");
  const all = useList("/v1/deletions", { query: { ...(taskId && { "filter[taskId]": [taskId] }) } });
  const restore = async (d: Schemas["Deletion"]): Promise<void> => {
    const { unmarkedRunIds = [] } = await read("/v1/deletions/{deletionId}", { path: { deletionId: d.id } });
    const restored = remove("/v1/deletions/{deletionId}", { deletionId: d.id });
    await done(
      restored.then(() => d.kind === "task" && go(`/tasks/${d.taskId}/edit`)),
      `${deletedName(d)} is restored. ${unmarkedAfter(unmarkedRunIds.length)}`.trim(),
    );
  };
  return (
    <>
      {taskId && (
        <p class="small">
          <a href={`#/tasks/${taskId}/desk`}>Back to the task</a>
        </p>
      )}
      <Heading title="Trash">Trash</Heading>
      <Listed
        of={all}
        empty={
          <p>Nothing is here. Tasks, datasets, submissions and runs that you delete can be restored for 30 days.</p>
        }
      >
        {d => (
          <>
            <span>
              <Tag>{d.kind}</Tag> <bdi>{deletedName(d)}</bdi>{" "}
              <span class="small quiet">
                deleted <When at={d.createdAt} />
                {d.by ? (
                  <>
                    {" "}
                    by <bdi>{personOf(d.by)}</bdi>
                  </>
                ) : (
                  d.byOrganizers && " by the organizers"
                )}
                ; gone for good after <When at={d.expiresAt} />
              </span>
            </span>
            {d.kind !== "task" && (
              <a href={`#/tasks/${d.taskId}`} aria-label={`Task of ${deletedName(d)}`}>
                Task
              </a>
            )}
            <Restore of={d} run={() => restore(d)} />
          </>
        )}
      </Listed>
    </>
  );
}

/** Restore offers to restore a deleted resource, or says why the reader cannot. */
function Restore({ of: d, run }: { of: Schemas["Deletion"]; run: () => Promise<void> }) {
  const path = { deletionId: d.id };
  const { data } = useGet("/v1/deletions/{deletionId}", { path });
  if (!data) return null;
  if (data.refusal) return <span class="small quiet">{inWords(data.refusal)}</span>;
  const { restorableUntil: until = d.expiresAt, unmarkedRunIds = [] } = data;
  return (
    <>
      {until !== d.expiresAt && (
        <span class="small quiet">
          Your team can restore it until <Deadline at={until} />. Then a dataset closes that takes final runs, and only
          the organizers can restore it.
        </span>
      )}
      {unmarkedRunIds.length > 0 && <span class="small quiet">{unmarkedBefore(unmarkedRunIds.length)}</span>}
      <Action plain label={`Restore ${deletedName(d)}`} run={run}>
        Restore
      </Action>
    </>
  );
}

// What was deleted and can be restored.
import { remove, type Schemas } from "../api";
import { done, useList } from "../data";
import { go, type Screen } from "../route";
import { Action, Heading, Listed, Tag } from "../ui/show";
import { ago, When } from "../ui/time";

export default function Trash({ query }: Screen) {
  const taskId = query.get("task");
  const all = useList("/v1/deletions", { query: { ...(taskId && { "filter[taskId]": [taskId] }) } });
  const restore = (d: Schemas["Deletion"]): Promise<void> => done(remove("/v1/deletions/{deletionId}", { deletionId: d.id })
    .then(() => d.kind === "task" && go(`/tasks/${d.taskId}/edit`)), `${d.name || "It"} is restored.`);
  return (
    <>
      <p class="small"><a href={taskId ? `#/tasks/${taskId}/desk` : "#/desk"}>{taskId ? "Back to the task" : "Organize"}</a></p>
      <Heading title="Trash">Trash</Heading>
      <Listed of={all} empty={<p>Nothing is here. What you delete can be restored for 30 days.</p>}>
        {d => (
          <>
            <span><Tag>{d.kind}</Tag> <bdi>{d.name || d.resourceId}</bdi> <span class="small quiet">deleted <When at={d.createdAt} />{d.by && <> by <bdi>{d.by.name || d.by.id}</bdi></>}; gone for good {ago(d.expiresAt)}</span></span>
            {d.kind !== "task" && <a href={`#/tasks/${d.taskId}`} aria-label={`Task of ${d.name || d.resourceId}`}>Task</a>}
            <Action plain label={`Restore ${d.name || d.resourceId}`} run={() => restore(d)}>Restore</Action>
          </>
        )}
      </Listed>
    </>
  );
}

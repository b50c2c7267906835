// What was deleted and can be restored.
import { remove } from "../api";
import { done, useList } from "../data";
import type { Screen } from "../route";
import { Action, Heading, Listed, Tag } from "../ui/show";
import { ago, When } from "../ui/time";

export default function Trash(_: Screen) {
  const all = useList("/v1/deletions", {});
  return (
    <>
      <Heading title="Trash">Trash</Heading>
      <Listed of={all} empty={<p>Nothing is here. What you delete can be restored for 30 days.</p>}>
        {d => (
          <>
            <span><Tag>{d.kind}</Tag> <bdi>{d.name || d.resourceId}</bdi> <span class="small quiet">deleted <When at={d.createdAt} />{d.by && <> by <bdi>{d.by.name || d.by.id}</bdi></>}; gone for good {ago(d.expiresAt)}</span></span>
            <Action plain label={`Restore ${d.name || d.resourceId}`} run={() =>
              done(remove("/v1/deletions/{deletionId}", { deletionId: d.id }), `${d.name || "It"} is restored.`)}>Restore</Action>
          </>
        )}
      </Listed>
    </>
  );
}

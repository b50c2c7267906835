// The rest of a team's quotas, for each dataset.
import type { Schemas } from "../api";
import { useList } from "../data";
import { leftOf, limitsOf, sharedOf, togetherOf, windowOf } from "../quota_words";
import { Deadline, When } from "./time";

type Quota = Schemas["Quota"];
type State = Schemas["Registration"]["state"];

/** Left shows how many runs can be submitted to a dataset now, and when the next one can. */
export function Left({ of: q, within }: { of: Schemas["DatasetQuota"]; within: Quota }) {
  const { said, next } = leftOf(q, sharedOf(within));
  const limits = limitsOf(q);
  return (
    <>
      {said}
      {limits && ` (at most ${limits} on this dataset)`}
      {next && (
        <>
          , one more <When at={next} />
        </>
      )}
    </>
  );
}

/** Window shows whether and until when a dataset takes runs of a team in this state. */
export function Window({ of: q, state }: { of: Schemas["DatasetQuota"]; state: State }) {
  const { said, at } = windowOf(q, state);
  return (
    <>
      {said}
      {at && (
        <>
          {" "}
          <Deadline at={at} />
        </>
      )}
    </>
  );
}

/** Quotas shows for each dataset of a task what a team in this state may submit now. */
export function Quotas({ taskId, of: quota, state }: { taskId: string; of: Quota; state: State }) {
  const datasets = useList("/v1/datasets", { query: { "filter[taskId]": [taskId] } }).items ?? [];
  const shown = (quota.datasets ?? []).flatMap(q => {
    const name = datasets.find(d => d.id === q.datasetId)?.name;
    return name ? [{ q, name }] : [];
  });
  return (
    <>
      {shown.length > 0 && (
        <ul aria-label="Runs left" class="small">
          {shown.map(({ q, name }) => (
            <li key={q.datasetId}>
              <bdi>{name}</bdi>{" "}
              {q.open ? (
                <>
                  <Window of={q} state={state} />: <Left of={q} within={quota} />
                </>
              ) : (
                <Window of={q} state={state} />
              )}
            </li>
          ))}
        </ul>
      )}
      <Together of={quota} />
    </>
  );
}

/** Together shows the limits of a task for all of its datasets together, and whether the usage of earlier teams counts. */
export function Together({ of: quota }: { of: Quota }) {
  const limits = togetherOf(quota);
  return (
    <>
      {limits && <p class="small quiet">{limits}</p>}
      {quota.carriedOver && (
        <p class="small quiet">
          An earlier team of a member had used more of the quota, and the team counts as having used as much.
        </p>
      )}
    </>
  );
}

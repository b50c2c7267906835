// The link from a page about runs to the form of submissions.
import type { ComponentChildren } from "preact";
import type { Schemas } from "../api";
import { isOver, takes, waits } from "../quota_words";
import { useOwnTeam } from "../roles";
import { Left, Window } from "./quota";

type To = { taskId: string; datasetId?: string; children: ComponentChildren };

/**
 * SubmitLink leads to the form of submissions if the reader's team can submit now: to the dataset or, without one, to any dataset
 * of the task. Otherwise it says why the team cannot.
 */
export function SubmitLink({ taskId, datasetId, children }: To) {
  const { team } = useOwnTeam(taskId);
  if (!team) return null;
  if (team.state !== "accepted") return <span class="small quiet">{waits(team)}</span>;
  const all = (team.quota?.datasets ?? []).filter(q => !datasetId || q.datasetId === datasetId);
  if (all.some(takes))
    return (
      <a class="button" href={`#/tasks/${taskId}/submit`}>
        {children}
      </a>
    );
  if (datasetId && all[0]) return <Refusing of={all[0]} within={team.quota!} />;
  return (
    <span class="small quiet">
      {all.length > 0 && all.every(q => isOver(q))
        ? "No dataset of the task takes a run of your team any more."
        : "No dataset of the task takes a run of your team now."}
    </span>
  );
}

const Refusing = ({ of: q, within }: { of: Schemas["DatasetQuota"]; within: Schemas["Quota"] }) => (
  <span class="small quiet">
    You cannot submit again: the dataset <Window of={q} state="accepted" />
    {q.open && (
      <>
        , but <Left of={q} within={within} />
      </>
    )}
    .
  </span>
);

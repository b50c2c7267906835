// A run that the reader does not find. Its team and the organizers are told that it was deleted, and who can restore it.
import type { Schemas } from "../api";
import { type Loading, useList } from "../data";
import { useSession } from "../session";
import { deletedName } from "./run_state";
import { Busy } from "./show";
import { TaskFrame } from "./task_nav";
import { Deadline, When } from "./time";
import { Visible } from "./visible";

type Props = { runId: string; of: Loading<Schemas["Run"]> };

/**
 * MissingRun tells readers whose trash has the run that it was deleted, and readers whose screen was open that it is
 * gone. Others see the same as for a run that does not exist. The screen stays within the task, which may have been
 * deleted with the run.
 */
export function MissingRun({ runId, of }: Props) {
  const { signedIn } = useSession();
  const known = of.data;
  const query = {
    "filter[kind]": ["submission", "run"] as ("submission" | "run")[],
    ...(known && { "filter[taskId]": [known.taskId] }),
    limit: 200,
  };
  const trash = useList(signedIn ? "/v1/deletions" : null, { query });
  if (signedIn && !trash.items && !trash.error) return <Busy />;
  const entry = trash.items?.find(d => d.resourceId === runId || (known && d.resourceId === known.submissionId));
  const taskId = entry?.taskId ?? known?.taskId;
  if (!taskId)
    return (
      <Visible of={of} title="Run">
        {() => null}
      </Visible>
    );
  return (
    <TaskFrame taskId={taskId} title="Run" at="/gone">
      {() => (
        <p class="empty" role="status">
          {entry ? <Deleted of={entry} /> : "This run was deleted, or is no longer shown to you."}
        </p>
      )}
    </TaskFrame>
  );
}

/** Deleted says when a run was deleted, and who can restore it. Only organizers are told who deleted it. */
const Deleted = ({ of: d }: { of: Schemas["Deletion"] }) => (
  <>
    {d.byOrganizers && !d.by ? "The organizers deleted" : "This is deleted:"} <bdi>{deletedName(d)}</bdi>,{" "}
    <When at={d.createdAt} />. It is in the <a href={`#/trash?task=${d.taskId}`}>trash</a> until{" "}
    <Deadline at={d.expiresAt} />.{d.byOrganizers && !d.by && " Only the organizers can restore it: ask them."}
  </>
);

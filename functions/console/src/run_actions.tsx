// The actions of a team on its own run.
import { useState } from "preact/hooks";
import { patch, remove, restore, type Schemas } from "./api";
import { done, useGet } from "./data";
import { endsRestoring } from "./deletion_words";
import { hasClosed } from "./quota_words";
import { refresh } from "./refresh";
import { useUnrestorable } from "./restorable";
import { registrationIn, useMe } from "./roles";
import { isBaseline, keptBecause } from "./run_rules";
import { resume } from "./submission";
import { authorsOf } from "./teams";
import { FileField } from "./ui/file_field";
import { ended, nameOf } from "./ui/run_state";
import { Action } from "./ui/show";
import { say } from "./ui/status";
import { Deadline } from "./ui/time";

type Run = Schemas["Run"];
const ofRun = "/v1/runs/{runId}";

/** RunActions shows the buttons for the actions that the state of a run allows. */
export function RunActions({
  of: r,
  dataset,
  organizer,
  published,
  ours,
  deleted,
}: {
  of: Run;
  dataset: Schemas["Dataset"] | undefined;
  organizer: boolean;
  /** ours reports whether the run belongs to the reader or to a team of the reader. */
  ours: boolean;
  published: boolean | undefined;
  /** deleted leaves the page of the run, which also says why the run cannot be deleted. */
  deleted?: () => void;
}) {
  const most = isBaseline(r) ? 0 : (dataset?.finalRuns ?? 0); // No team chooses among the organizers' baselines.
  const { left, marked, closed, closesAt } = useFinals(r, most, organizer);
  const finalRuns = (r.state === "completed" || r.final) && (organizer || !closed) ? most : 0;
  const kept = organizer ? "" : keptBecause({ published, finalsClosed: closed });
  const lost = useUnrestorable(r.taskId, isBaseline(r));
  const whileOpen = !organizer && endsRestoring(closesAt) && (
    <>
      Your team can restore it only until <Deadline at={closesAt} />. Then <bdi>{dataset?.name}</bdi> closes, which
      takes final runs, and only the organizers can restore it.
    </>
  );
  const byOrganizers = "The team is told, and only organizers can restore it.";
  const set = (change: object): Promise<unknown> => patch(ofRun, { runId: r.id }, change);
  const act = (change: object, said: string, undo?: object): Promise<void> =>
    done(set(change), said, undo && (() => set(undo)));
  const drop = async (): Promise<void> => {
    const undo = (): Promise<void> => restore("run", r.id, r.taskId);
    await done(remove(ofRun, { runId: r.id }).then(deleted), `${nameOf(r)} is deleted.`, lost ? undefined : undo);
  };
  const name = nameOf(r);
  const markable = r.state === "completed" && marked <= most; // after it was unmarked
  const toggleFinal = (): Promise<void> =>
    r.final
      ? act({ final: null }, `${name} is no longer final.`, markable ? { final: true } : undefined)
      : act({ final: true }, `${name} is final.`, { final: null });
  const mark = r.final ? "Unmark as final" : `Mark as final${left === undefined ? "" : ` (${left} left)`}`;
  return (
    <>
      {!ended(r) && !r.again && (
        <Action
          plain
          label={`Cancel ${name}`}
          run={() => act({ state: "cancelled" }, `${name} is cancelled, and does not count.`)}
        >
          Cancel
        </Action>
      )}
      {finalRuns > 0 && marked > most && (
        <span class="small quiet">
          {`${marked} runs are marked as final: of those with a result, only the newest ${most === 1 ? "counts" : `${most} count`}`}
        </span>
      )}
      {finalRuns > 0 && !r.final && left === 0 && marked === most && (
        <span class="small quiet">
          {finalRuns === 1 ? "The final run is marked" : `All ${finalRuns} final runs are marked`}
        </span>
      )}
      {finalRuns > 0 && (r.final || left !== 0) && (
        <Action plain label={`${mark}: ${name}`} run={toggleFinal}>
          {mark}
        </Action>
      )}
      {ended(r) && kept && deleted && <span class="small quiet">{kept}</span>}
      {ended(r) && kept === "" && lost !== undefined && (
        <Action
          plain
          label={`Delete ${name}`}
          ask={ours || isBaseline(r) ? lost || whileOpen : byOrganizers}
          run={drop}
        >
          Delete
        </Action>
      )}
    </>
  );
}

interface Finals {
  /** left is how many more runs the team can mark, or undefined while that is unknown. */
  left: number | undefined;
  /** marked is how many runs the team has marked: more than the dataset takes if organizers lowered that number. */
  marked: number;
  /** closed reports whether the dataset has closed for the reader's team. */
  closed: boolean;
  /** closesAt is when the dataset closes for the reader's team. */
  closesAt: string | undefined;
}

/** useFinals returns the final runs of a run's team on the dataset. Organizers read the runs of all teams. */
function useFinals(r: Run, most: number, organizer: boolean): Finals {
  const mine = registrationIn(useMe(), r.taskId);
  const ids = { taskId: r.taskId, registrationId: mine?.registrationId ?? "" };
  const team = useGet(
    most > 0 && mine && mine.registrationId === r.registrationId
      ? "/v1/tasks/{taskId}/registrations/{registrationId}"
      : null,
    {
      path: ids,
    },
  ).data;
  const query = {
    "filter[datasetId]": [r.datasetId],
    ...(team && { "filter[userId]": authorsOf(team) }),
    limit: 200,
    fields: ["final" as const, "registrationId" as const],
  };
  const reads = team || (organizer && most > 0);
  const runs = useGet(reads ? "/v1/runs" : null, { query }).data;
  const marked = runs?.data.filter(o => o.final && o.registrationId === r.registrationId).length ?? 0;
  const quota = team?.quota?.datasets?.find(q => q.datasetId === r.datasetId);
  return {
    marked,
    left: runs && !runs.links.next ? Math.max(0, most - marked) : undefined,
    closed: quota !== undefined && hasClosed(quota),
    closesAt: quota?.closesAt,
  };
}

/** Resume asks for the file of a run again whose upload was interrupted. */
export function Resume({ of: r }: { of: Run }) {
  const name = r.files[0]?.name ?? "the file";
  const [doing, setDoing] = useState<{ said: string; share: number }>();
  const [failed, setFailed] = useState("");
  const take = async (file: File): Promise<void> => {
    setFailed("");
    try {
      await resume(r, file, (_, said, share) => setDoing({ said, share }), new AbortController().signal);
      say("The file has arrived.");
      await refresh();
    } catch (error) {
      setFailed((error as Error).message);
    }
    setDoing(undefined);
  };
  return (
    <div>
      <FileField
        label={`File of ${nameOf(r)}`}
        chosen={[]}
        choose={([file]) => void take(file!)}
        hint={`The upload of ${name} is not done. If it no longer goes on in another tab, choose the file again.`}
      />
      {doing && (
        <p>
          <label>
            {doing.said} <progress value={doing.share} max={1} />
          </label>
        </p>
      )}
      {failed && (
        <p class="fault" role="alert">
          {failed}
        </p>
      )}
    </div>
  );
}

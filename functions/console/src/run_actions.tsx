// What a team does with a run of its own.
import { useState } from "preact/hooks";
import { useSWRConfig } from "swr";
import { patch, remove, restore, type Schemas } from "./api";
import { resume } from "./submission";
import { FileField } from "./ui/file_field";
import { Action } from "./ui/show";
import { say } from "./ui/status";
import { ended, nameOf } from "./ui/run_state";

type Run = Schemas["Run"];
const ofRun = "/v1/runs/{runId}";

/** RunActions are the buttons of a run: those that its state allows. */
export function RunActions({ of: r, finalRuns, deleted }: { of: Run; finalRuns?: number; deleted?: () => void }) {
  const { mutate } = useSWRConfig();
  const act = async (change: object, said: string, undo?: object): Promise<void> => {
    await patch(ofRun, { runId: r.id }, change);
    await mutate(() => true);
    say(said, undo && (async () => {
      await patch(ofRun, { runId: r.id }, undo);
      await mutate(() => true);
    }));
  };
  const drop = async (): Promise<void> => {
    await remove(ofRun, { runId: r.id });
    deleted?.();
    await mutate(() => true);
    say(`${nameOf(r)} is deleted.`, async () => {
      await restore("run", r.id, r.taskId);
      await mutate(() => true);
    });
  };
  const name = nameOf(r);
  return (
    <>
      {!ended(r) && <Action plain label={`Cancel ${name}`} run={() => act({ state: "cancelled" }, `${name} is cancelled, and does not count.`)}>Cancel</Action>}
      {Boolean(finalRuns) && r.state === "completed" && (
        <Action plain label={r.final ? `Not final: ${name}` : `Mark as final: ${name}`} run={() => act({ final: r.final ? null : true }, r.final ? `${name} is no longer final.` : `${name} is final.`, { final: r.final ? true : null })}>
          {r.final ? "Not final" : "Mark as final"}
        </Action>
      )}
      {ended(r) && <Action plain label={`Delete ${name}`} run={drop}>Delete</Action>}
    </>
  );
}

/** Resume takes the file of a run whose upload ended before it was whole. */
export function Resume({ of: r }: { of: Run }) {
  const { mutate } = useSWRConfig();
  const [doing, setDoing] = useState<{ said: string; share: number }>();
  const [failed, setFailed] = useState("");
  const take = async (file: File): Promise<void> => {
    setFailed("");
    try {
      await resume(r, file, (_, said, share) => setDoing({ said, share }), new AbortController().signal);
      say("The file has arrived.");
      await mutate(() => true);
    } catch (error) {
      setFailed((error as Error).message);
    }
    setDoing(undefined);
  };
  return (
    <div>
      <FileField label={`File of ${nameOf(r)}`} chosen={[]} choose={([file]) => void take(file!)}
        hint={`The upload of ${r.files[0]?.name ?? "the file"} is not done. If it no longer goes on in another tab, choose the file again.`} />
      {doing && <p><label>{doing.said} <progress value={doing.share} max={1} /></label></p>}
      {failed && <p class="fault" role="alert">{failed}</p>}
    </div>
  );
}

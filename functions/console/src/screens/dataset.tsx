// The form of a new or existing dataset: split, files, measures and rules. Fields that simple tasks need are visible,
// and the others are folded.
import { useRef, useState } from "preact/hooks";
import { effects, patch, post, type Schemas } from "../api";
import { columnsIn } from "../columns";
import { done, useGet, useNewest } from "../data";
import { type Added, kept, uploadTo, withAdded } from "../dataset_files";
import { splitLabels } from "../field_labels";
import { inWords } from "../member_names";
import { gone, toProblem } from "../problem";
import { refresh } from "../refresh";
import { go, type Screen } from "../route";
import { begin } from "../run_formats";
import { truthState } from "../stage";
import { DeleteDataset } from "../ui/delete";
import { Choice, Text } from "../ui/fields";
import { Diagnostics } from "../ui/file_field";
import { Form } from "../ui/form";
import { Action, Loaded, Tag } from "../ui/show";
import { say } from "../ui/status";
import { GoneFrom, TaskFrame } from "../ui/task_nav";
import { filled, mergePatch, type Values } from "../ui/values";
import { Files, Measuring, Rules, useKinds } from "./dataset_fields";
import { ForOrganizers } from "./edit_task";

type Dataset = Schemas["Dataset"];
type Given = Schemas["File"];

const noFiles: Added = { inputs: [], truths: [] };

const fieldsOf = (d: Dataset): Values => ({
  name: d.name,
  description: d.description || undefined,
  split: d.split,
  runFormat: d.runFormat,
  evaluator: d.evaluator,
  columns: d.columns?.map(c => ({ ...c, lowerIsBetter: c.lowerIsBetter || undefined })),
  submissions: {
    opensAt: d.submissions?.opensAt,
    closesAt: d.submissions?.closesAt,
    perDay: d.submissions?.perDay || undefined,
    total: d.submissions?.total || undefined,
  },
  publish: d.publish ?? "onReview",
  inputsFor: d.inputsFor ?? "anyone",
  finalRuns: d.finalRuns || undefined,
  pool: d.pool,
  builds: d.builds || undefined,
  labelsPublic: d.labelsPublic || undefined,
  idsPublic: d.idsPublic || undefined,
  truthsPublic: d.truthsPublic || undefined,
  inputs: (d.inputs ?? []).map(kept),
  truths: (d.truths ?? []).map(kept),
});

const fresh = (e: Schemas["EvaluatorKind"]): Values => ({
  name: "",
  split: "test",
  ...begin(e),
  publish: "onReview",
  inputsFor: "anyone",
  inputs: [],
  truths: [],
});

export default ({ params: { taskId, datasetId } }: Screen) =>
  taskId ? <OfTask taskId={taskId} /> : <Existing datasetId={datasetId!} />;

function Existing({ datasetId }: { datasetId: string }) {
  const one = useGet(
    "/v1/datasets/{datasetId}",
    { path: { datasetId } },
    { refreshInterval: d => (d && (truthState(d) === "waits" || d.reevaluation) ? 2000 : 0) },
  );
  if (one.data && gone(one.error)) return <GoneFrom taskId={one.data.taskId} title="Dataset" />;
  return <Loaded of={one}>{d => <OfTask taskId={d.taskId} of={d} latest={() => one.mutate()} />}</Loaded>;
}

type Props = { taskId: string; of?: Dataset; latest?: () => Promise<Dataset | undefined> };

const OfTask = (props: Props) => (
  <TaskFrame taskId={props.taskId} title={props.of ? `Dataset ${props.of.name}` : "New dataset"} at="/edit">
    {({ task, me }) => (
      <ForOrganizers task={task} me={me}>
        <p>
          <a href={`#/tasks/${task.id}/edit`}>Back to the steps of the task</a>
        </p>
        {props.of && <State of={props.of} />}
        <Editor {...props} />
        {props.of && <DeleteDataset of={props.of} />}
      </ForOrganizers>
    )}
  </TaskFrame>
);

function TruthSaid({ of: d }: { of: Dataset }) {
  switch (truthState(d)) {
    case "missing":
      return <>There is no ground truth yet: runs wait until it is stored.</>;
    case "refused":
      return <>The ground truth has errors. Correct these lines, and choose the file again below.</>;
    case "waits":
      return d.truths?.some(t => t.state === "pending") ? (
        <>The ground truth has not arrived. If its upload ended, choose the same file again below.</>
      ) : (
        <>The server reads the ground truth …</>
      );
    case "accepted":
      return (
        <>
          <Tag kind="good">accepted</Tag> The ground truth is stored, as version {d.truthVersion}.
        </>
      );
  }
}

/** Described tells organizers what the ground truth has, and what is probably wrong with it. */
const Described = ({ of: r }: { of: NonNullable<Dataset["truthReport"]> }) => (
  <>
    <p>Ground truth: {r.contents}.</p>
    {r.warnings && (
      <ul>
        {r.warnings.map(text => (
          <li key={text}>
            <Tag kind="warm">warning</Tag> {text}.
          </li>
        ))}
      </ul>
    )}
  </>
);

/** Advised tells organizers that teams can derive the ground truth from their scores, and how to prevent it. */
const Advised = ({ of: a }: { of: NonNullable<Dataset["advice"]> }) => (
  <p>
    <Tag kind="warm">advice</Tag> {inWords(a)}
  </p>
);

/** State shows the state of the ground truth, and the progress of the evaluation against a new ground truth. */
function State({ of: d }: { of: Dataset }) {
  const again = d.reevaluation;
  const show = (): Promise<void> =>
    done(
      patch("/v1/datasets/{datasetId}", { datasetId: d.id }, { boardVersion: d.truthVersion }, d),
      "Leaderboards show the new results.",
    );
  return (
    <div class="notice" role="status">
      <p>
        <TruthSaid of={d} />
      </p>
      <Diagnostics of={d.diagnostics ?? []} />
      {d.truthReport && <Described of={d.truthReport} />}
      {d.advice && <Advised of={d.advice} />}
      {again && (
        <>
          <p>
            Runs are evaluated again
            {again.runs !== undefined &&
              again.waiting !== undefined &&
              `: ${again.runs - again.waiting} of ${again.runs} have ended`}
            . Until then leaderboards show version {d.boardVersion}.
          </p>
          {d.boardVersion !== d.truthVersion && (
            <Action plain run={show}>
              Show the new results already
            </Action>
          )}
        </>
      )}
    </div>
  );
}

function Editor({ taskId, of, latest }: Props) {
  const info = useGet("/info", {});
  const [usual] = useKinds();
  const [added, setAdded] = useState<Added>(noFiles);
  const [sending, setSending] = useState<{ name: string; doing: string; share: number }>();
  const stop = useRef<AbortController>();
  const { newest, latest: read } = useNewest(of, async () => latest?.());
  const tell = (name: string, doing: string, share: number): void => setSending({ name, doing, share });
  const bodyOf = async (v: Values): Promise<Values> => ({
    ...v,
    columns: columnsIn(v),
    ...(await withAdded({ inputs: (v.inputs ?? []) as Given[], truths: (v.truths ?? []) as Given[] }, added, tell)),
  });
  const preview = async (v: Values, base: Values): Promise<Schemas["Effect"][]> =>
    effects("PATCH", "/v1/datasets/{datasetId}", { datasetId: of!.id }, mergePatch(base, await bodyOf(v)));
  const act = async (v: Values, base: Values): Promise<void> => {
    stop.current = new AbortController();
    try {
      const body = await bodyOf(v);
      const { id } = of
        ? await patch("/v1/datasets/{datasetId}", { datasetId: of.id }, mergePatch(base, body), newest.current)
        : await post("/v1/datasets", {}, filled({ ...body, taskId }));
      const files = added;
      setAdded(noFiles);
      const failed = await uploadTo(id, files, tell, stop.current.signal).then(() => undefined, toProblem);
      if (failed && of) throw failed;
      if (failed) say(`The dataset is there, but a file has not arrived: ${failed.message}`);
      else say(of ? "Saved." : "The dataset is there.");
      if (!of) go(`/datasets/${id}/edit`);
    } finally {
      setSending(undefined);
      await refresh();
    }
  };
  if (!info.data) return <Loaded of={info}>{() => <></>}</Loaded>;
  return (
    <Form
      name={`dataset ${of?.id ?? taskId}`}
      initial={of ? fieldsOf(of) : fresh(usual!)}
      button={of ? "Save the dataset" : "Add the dataset"}
      files={{ chosen: added.inputs.length + added.truths.length > 0, clear: () => setAdded(noFiles) }}
      submit={act}
      {...(of && { preview, latest: async () => fieldsOf((await read()) ?? of) })}
    >
      {f => (
        <>
          <Text f={f} name="name" label="Name" required max={200} hint="Such as Test 2026." />
          <Choice
            f={f}
            name="split"
            label="Split"
            options={splitLabels(columnsIn(f.values))}
            hint="Runs on a test split start blinded: their teams see no scores until an organizer unblinds them. Unblinding a run shows nobody the ground truth."
          />
          <Measuring f={f} />
          <Files f={f} added={added} setAdded={setAdded} stored={of} />
          <Rules f={f} />
          {sending && (
            <p>
              <label>
                {sending.doing} <bdi>{sending.name}</bdi> <progress value={sending.share} max={1} />
              </label>
            </p>
          )}
          {sending && (
            <p>
              <button type="button" class="plain" onClick={() => stop.current?.abort()}>
                Stop
              </button>
            </p>
          )}
        </>
      )}
    </Form>
  );
}

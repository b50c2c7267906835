// A dataset, new or as it is: its split, files, measures and rules. What a simple task needs is open, what few need is
// folded.
import { useRef, useState } from "preact/hooks";
import { effects, patch, post, type Schemas } from "../api";
import { done, refresh, useGet, useNewest } from "../data";
import { type Added, kept, uploadTo, withAdded } from "../dataset_files";
import { toProblem } from "../problem";
import { go, type Screen } from "../route";
import { truthState } from "../stage";
import { CheckedFile } from "../ui/checked_file";
import { Delete } from "../ui/delete";
import { Check, Checks, Choice, Faults, Text, Whole } from "../ui/fields";
import { Diagnostics, FileField } from "../ui/file_field";
import { FileName } from "../ui/files";
import { type Editing, Form } from "../ui/form";
import { MarkdownField } from "../ui/markdown_field";
import { MeasuresField } from "../ui/measures_field";
import { Action, Loaded, Tag } from "../ui/show";
import { say } from "../ui/status";
import { TaskFrame } from "../ui/task_nav";
import { filled, member, mergePatch, type Values } from "../ui/values";
import { ForOrganizers, Limits, Window } from "./edit_task";

type Dataset = Schemas["Dataset"];
type Kind = Schemas["Evaluator"]["kind"];
type Given = Schemas["File"];

type Evaluator = Schemas["EvaluatorKind"];

const worker: Evaluator = {
  kind: "worker",
  definition: "Something else: my own evaluator, as a container image",
  truth: "What your evaluator compares runs with. Only it reads these files.",
  formats: ["jsonl", "csv", "trec-run"],
  valueField: "value",
  defaults: ["Score"],
};

/** useKinds has what a run can be: the evaluators of the server, and one of the organizer's own. */
const useKinds = (): Evaluator[] => [...(useGet("/info", {}).data?.evaluators ?? []), worker];

/** begin is what a dataset of the kind begins with. */
const begin = (of: Evaluator): Values => ({
  runFormat: formatOf(of.formats[0], of, {}),
  evaluator: { kind: of.kind, measures: of.defaults.slice(0, 2) },
});
/** formatOf is the format of runs of the kind that it becomes: values have names in some formats alone. */
const formatOf = (kind: unknown, of: Evaluator | undefined, before: unknown): Values =>
  kind === "jsonl" || kind === "csv"
    ? { idField: "id", valueField: of?.valueField, ...(before as object), separator: undefined, kind }
    : { kind };
const formats: Record<string, string> = {
  "trec-run": "TREC run: topic, Q0, document, rank, score, tag",
  jsonl: "JSON lines: an object a line",
  csv: "CSV with a header line, of commas or tabs",
  conll: "CoNLL columns: a token and its tag a line, empty lines between sentences",
};
const endings = { csv: /\.(csv|tsv)(\.gz)?$/i, jsonl: /\.jsonl?(\.gz)?$/i, conll: /\.(conll|iob2?|bio)(\.gz)?$/i };
const splits = {
  test: "Test: teams see scores once you unblind their run",
  validation: "Validation: teams see their scores at once",
  training: "Training: the ground truth may be given out",
};

const fieldsOf = (d: Dataset): Values => ({
  name: d.name,
  description: d.description || undefined,
  split: d.split,
  runFormat: d.runFormat,
  evaluator: d.evaluator,
  submissions: {
    opensAt: d.submissions?.opensAt,
    closesAt: d.submissions?.closesAt,
    perDay: d.submissions?.perDay || undefined,
    total: d.submissions?.total || undefined,
  },
  scores: d.scores ?? "live",
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

const fresh = (e: Evaluator): Values => ({
  name: "",
  split: "test",
  ...begin(e),
  scores: "live",
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
  return <Loaded of={one}>{d => <OfTask taskId={d.taskId} of={d} latest={() => one.mutate()} />}</Loaded>;
}

type Props = { taskId: string; of?: Dataset; latest?: () => Promise<Dataset | undefined> };

const OfTask = (props: Props) => (
  <TaskFrame taskId={props.taskId} title={props.of ? `Dataset ${props.of.name}` : "New dataset"} at="/edit">
    {({ task, me }) => (
      <ForOrganizers task={task} me={me}>
        <p>
          <a href={`#/tasks/${task.id}/edit`}>Back to what is left</a>
        </p>
        {props.of && <State of={props.of} />}
        <Editor {...props} />
        {props.of && (
          <Delete
            kind="dataset"
            id={props.of.id}
            taskId={task.id}
            name={props.of.name}
            then={`/tasks/${task.id}/edit`}
          />
        )}
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

/** State says how far the ground truth is, and the evaluation against a new one. */
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
  const [added, setAdded] = useState<Added>({ inputs: [], truths: [] });
  const [round, setRound] = useState(0); // of choosing files, whose fields begin empty
  const [sending, setSending] = useState<{ name: string; doing: string; share: number }>();
  const stop = useRef<AbortController>();
  const { newest, latest: read } = useNewest(of, async () => latest?.());
  const tell = (name: string, doing: string, share: number): void => setSending({ name, doing, share });
  const bodyOf = async (v: Values): Promise<Values> => ({
    ...v,
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
      setAdded({ inputs: [], truths: [] });
      setRound(round + 1);
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
            options={splits}
            hint="Runs on a test split start blinded: their teams see neither scores nor what the ground truth says, until an organizer unblinds them."
          />
          <Measuring f={f} />
          <Files key={round} f={f} added={added} setAdded={setAdded} stored={of} />
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

const kindOf = (f: Editing): Kind => member(f.values, "evaluator/kind") as Kind;

/** Measuring has what runs are, and how they are measured. */
function Measuring({ f }: { f: Editing }) {
  const kinds = useKinds();
  const kind = kindOf(f);
  const of = kinds.find(e => e.kind === kind);
  const choose = (_: string, value: unknown): void => {
    const chosen = kinds.find(e => e.kind === value)!;
    for (const [name, v] of Object.entries(begin(chosen))) f.set(name, v);
  };
  const format = (_: string, value: unknown): void => f.set("runFormat", formatOf(value, of, f.values.runFormat));
  const worker = kind === "worker";
  return (
    <>
      <Choice
        f={{ ...f, set: choose }}
        name="evaluator/kind"
        label="What participants submit"
        options={Object.fromEntries(kinds.map(e => [e.kind, e.definition]))}
      />
      {of && of.formats.length > 1 && (
        <Choice
          f={{ ...f, set: format }}
          name="runFormat/kind"
          label="Format of runs"
          options={Object.fromEntries(of.formats.map(k => [k, formats[k]!]))}
        />
      )}
      {member(f.values, "runFormat/idField") !== undefined && (
        <div class="sides">
          <Text f={f} name="runFormat/idField" label="Field of the item's id" required max={200} />
          <Text
            f={f}
            name="runFormat/valueField"
            label={`Field of the ${of?.valueField ?? "value"}`}
            required
            max={200}
          />
          {kind === "multilabel" && member(f.values, "runFormat/kind") === "csv" && (
            <Text
              f={f}
              name="runFormat/separator"
              label="What separates labels"
              max={8}
              hint="Left out: a vertical bar, as in sad|angry."
            />
          )}
        </div>
      )}
      {worker && (
        <>
          <Text
            f={f}
            name="evaluator/image"
            label="Image of the evaluator"
            required
            max={500}
            hint="With its registry, best by digest. A worker runs it."
          />
          <Text
            f={f}
            name="evaluator/command"
            label="Command"
            max={2000}
            hint="What is run in it; without one, what it starts by itself."
          />
        </>
      )}
      <MeasuresField f={f} />
      {worker && (
        <Checks
          f={f}
          name="evaluator/lowerIsBetter"
          label="Of which less is better"
          options={Object.fromEntries(((member(f.values, "evaluator/measures") ?? []) as string[]).map(m => [m, m]))}
        />
      )}
    </>
  );
}

/** Files has the files that are there, and takes new ones. */
function Files({
  f,
  added,
  setAdded,
  stored,
}: {
  f: Editing;
  added: Added;
  setAdded: (a: Added) => void;
  stored?: Dataset;
}) {
  const kind = kindOf(f);
  const of = useKinds().find(e => e.kind === kind);
  const { formats: possible = [], truth = "" } = of ?? {};
  const format = f.values.runFormat as Schemas["RunFormat"];
  const truths = (files: File[]): void => {
    setAdded({ ...added, truths: files });
    f.set("truths", []);
    const ending = Object.entries(endings).find(([, form]) => form.test(files[0]!.name));
    const named = ending?.[0] ?? format.kind;
    // The ground truth has the format of runs.
    if (!stored && kind !== "worker" && possible.includes(named)) f.set("runFormat", formatOf(named, of, format));
  };
  const orFormat = possible.length > 1 ? ", or choose another format of runs above" : "";
  return (
    <>
      <fieldset class="field" data-field="truths">
        <legend>Ground truth</legend>
        <p class="hint">
          {truth} Participants never get it. A new file takes the place of what is there, and has every run evaluated
          again.
        </p>
        <There f={f} part="truths" stored={stored?.truths} />
        {kind === "worker" ? (
          <FileField label="Files of the ground truth" multiple chosen={added.truths} choose={truths} />
        ) : (
          <CheckedFile
            label="File of the ground truth"
            chosen={added.truths[0]}
            choose={file => truths([file])}
            as={files => ({ truth: { files, kind, format } })}
            good="The file can be evaluated against."
            bad={`Correct these lines, and choose the file again${orFormat}. Nothing was saved.`}
          />
        )}
        <Faults f={f} name="truths" />
      </fieldset>
      <fieldset class="field" data-field="inputs">
        <legend>Input</legend>
        <p class="hint">
          What participants get, such as topics or items. It can be added later, or stand on your website.
        </p>
        <There f={f} part="inputs" stored={stored?.inputs} />
        <FileField
          label="Files for participants"
          hint="Drop files here, or choose them."
          multiple
          chosen={added.inputs}
          choose={inputs => {
            setAdded({ ...added, inputs });
            f.markEdited("inputs");
          }}
        />
        <Faults f={f} name="inputs" />
      </fieldset>
    </>
  );
}

function There({ f, part, stored }: { f: Editing; part: "inputs" | "truths"; stored: Given[] | undefined }) {
  const files = (f.values[part] ?? []) as Given[];
  return (
    <ul class="rows">
      {files.map(file => {
        const at = stored?.find(s => s.name === file.name && s.sha256 === file.sha256);
        return (
          <li key={file.name}>
            <span>
              <FileName of={file} url={at?.url} /> {at?.state === "pending" && <Tag kind="warm">not arrived</Tag>}
            </span>
            <button
              type="button"
              class="plain"
              aria-label={`Remove ${file.name}`}
              onClick={() =>
                f.set(
                  part,
                  files.filter(x => x !== file),
                )
              }
            >
              Remove
            </button>
          </li>
        );
      })}
    </ul>
  );
}

/** Rules has what few datasets need otherwise than it is. */
function Rules({ f }: { f: Editing }) {
  const kind = kindOf(f);
  const of = useKinds().find(e => e.kind === kind);
  return (
    <>
      <details>
        <summary>Description, window and quota of its own</summary>
        <MarkdownField f={f} name="description" label="Description" rows={4} />
        <Window
          f={f}
          of="submissions"
          opens="Takes runs from"
          closes="Takes runs until"
          hint="Left out: as the task."
        />
        <Limits f={f} />
      </details>
      <details>
        <summary>When scores are seen, and which runs count</summary>
        <Choice
          f={f}
          name="scores"
          label="Scores"
          options={{
            live: "As soon as reviews allow",
            afterClose: "After the close: until then teams see only whether runs are valid",
          }}
        />
        <Choice
          f={f}
          name="publish"
          label="Runs are published"
          options={{ onReview: "Once an organizer publishes them", onCompletion: "As soon as they are evaluated" }}
          hint="On a test split they stay blinded until an organizer unblinds them, in any case."
        />
        <Whole
          f={f}
          name="finalRuns"
          label="Final runs of a team"
          min={1}
          hint="How many runs a team marks as final, which count after the close. Left out: all count."
        />
      </details>
      <details>
        <summary>Who gets the files, and what may be known of the ground truth</summary>
        <Choice
          f={f}
          name="inputsFor"
          label="Who gets the input"
          options={{ anyone: "Everyone who sees the task", registrants: "Teams that take part, once accepted" }}
        />
        <Check
          f={f}
          name="idsPublic"
          label="Participants may know which topics or items the ground truth has"
          hint="Teams of blinded runs then see which of them they lack, or have too many."
        />
        {of?.hasLabels && (
          <Check
            f={f}
            name="labelsPublic"
            label="Participants may know the set of labels"
            hint="Teams of blinded runs then see which of their labels do not exist."
          />
        )}
        {f.values.split === "training" && (
          <Check
            f={f}
            name="truthsPublic"
            label="Give out the ground truth"
            hint="Who gets the input gets it too. It can be taken back only by replacing all its files."
          />
        )}
      </details>
      <details>
        <summary>Where images and repositories are executed</summary>
        <Text
          f={f}
          name="pool"
          label="Pool of workers"
          max={200}
          hint="Left out: the platform's. For workers of your own: the id of your organizer, a slash and a name."
        />
        <Check f={f} name="builds" label="Take repositories" hint="Their Dockerfiles are built by workers that can." />
      </details>
    </>
  );
}

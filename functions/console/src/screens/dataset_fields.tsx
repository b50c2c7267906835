// The fields of a dataset: evaluator, measures, files and rules.
import type { Schemas } from "../api";
import { commonFrom, firstFrom } from "../column_rules";
import { columnsIn } from "../columns";
import { useGet } from "../data";
import type { Added } from "../dataset_files";
import { choiceLabels, fieldLabels } from "../field_labels";
import { begin, type Evaluator, formatOf, formatOfName } from "../run_formats";
import { CheckedFile } from "../ui/checked_file";
import { Check, Choice, Faults, Text, Whole } from "../ui/fields";
import { FileField } from "../ui/file_field";
import { FileName } from "../ui/files";
import type { Editing } from "../ui/form";
import { FromField } from "../ui/from_field";
import { MarkdownField } from "../ui/markdown_field";
import { MeasuresField } from "../ui/measures_field";
import { Tag } from "../ui/show";
import { member } from "../ui/values";
import { Limits, Window } from "./task_parts";

type Dataset = Schemas["Dataset"];
type Kind = Schemas["Evaluator"]["kind"];
type Given = Schemas["File"];

const worker: Evaluator = {
  kind: "worker",
  definition: "Something else: my own evaluator, as a container image",
  truth: "What your evaluator compares runs with. Only it reads these files.",
  formats: ["jsonl", "csv", "trec-run"],
  valueField: "value",
  defaults: ["Score"],
  conventions: [],
  limits: [],
};

/** useKinds returns the evaluators of the server, and the kind for an evaluator of the organizers. */
export const useKinds = (): Evaluator[] => [...(useGet("/info", {}).data?.evaluators ?? []), worker];

const formats: Record<string, string> = {
  "trec-run": "TREC run: topic, Q0, document, rank, score, tag",
  jsonl: "JSON lines: an object a line",
  csv: "CSV with a header line, of commas, tabs or semicolons",
  conll: "CoNLL columns: a token and its tag a line, empty lines between sentences",
};

const kindOf = (f: Editing): Kind => member(f.values, "evaluator/kind") as Kind;

/** Measuring has the fields of the evaluator, the format of runs, and the measures. */
export function Measuring({ f }: { f: Editing }) {
  const kinds = useKinds();
  const kind = kindOf(f);
  const of = kinds.find(e => e.kind === kind);
  const choose = (_: string, value: unknown): void => {
    const chosen = kinds.find(e => e.kind === value)!;
    for (const [name, v] of Object.entries(begin(chosen, columnsIn(f.values)))) f.set(name, v);
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
            hint="Runs in the container. Without a command, the container starts its default one."
          />
        </>
      )}
      <MeasuresField f={f} />
    </>
  );
}

/** Files shows the stored files, and has the fields for new files. */
export function Files({
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
    const named = formatOfName(files[0]!.name) ?? format.kind;
    // The ground truth has the format of runs.
    if (!stored && kind !== "worker" && possible.includes(named)) f.set("runFormat", formatOf(named, of, format));
  };
  const orFormat = possible.length > 1 ? ", or choose another format of runs above" : "";
  return (
    <>
      <fieldset class="field" data-field="truths">
        <legend>Ground truth</legend>
        <p class="hint">
          {truth} Participants get it only if you give it out. A new file replaces the present one, and every run is
          evaluated again.
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

/** Since is the field of when scores are seen, for all measures at once. */
function Since({ f }: { f: Editing }) {
  const columns = columnsIn(f.values);
  if (firstFrom(columns, "team") === "never")
    return (
      <p class="hint">
        Only organizers see the measures. To change that, choose who sees them with each measure above.
      </p>
    );
  const set = (from: string): void =>
    f.set(
      "columns",
      columns.map(({ from: _, ...c }) => (from === "now" ? c : { ...c, from })),
    );
  return (
    <FromField
      f={f}
      name="columns/from"
      label={fieldLabels.columns}
      value={commonFrom(columns)}
      set={from => from !== "differ" && set(from)}
      hint="Reviews hold in any case: a team sees no scores of a blinded run, and others see only those of published runs."
    />
  );
}

/** Rules has the fields whose defaults are right for most datasets. */
export function Rules({ f }: { f: Editing }) {
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
        <Limits f={f} hint="Left out: only the limits of the task apply." />
      </details>
      <details>
        <summary>When scores are seen, and which runs count</summary>
        <Since f={f} />
        <Choice
          f={f}
          name="publish"
          label="Runs are published"
          options={choiceLabels.publish!}
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
        <Choice f={f} name="inputsFor" label="Who gets the input" options={choiceLabels.inputsFor!} />
        <Check
          f={f}
          name="idsPublic"
          label="Participants may know which topics or items the ground truth has"
          hint="While a team does not see the values of a run, it then sees which of them the run lacks, or has too many. Teams that see the values see it in any case."
        />
        {of?.hasLabels && (
          <Check
            f={f}
            name="labelsPublic"
            label="Participants may know the set of labels"
            hint="While a team does not see the values of a run, it then sees which of its labels do not exist. Teams that see the values see it in any case."
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

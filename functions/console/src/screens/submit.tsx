// The form of a submission: files, container images or repositories. The server checks files before it counts the runs.
import { Fragment } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Schemas } from "../api";
import { type Listing, useGet, useList } from "../data";
import { diagnosticsOf, ofFile } from "../file_faults";
import { Problem, toProblem } from "../problem";
import { allClosed, allOver, baselineNote, hasClosed, scoresNote, takes, unservedNote, waits } from "../quota_words";
import { refresh } from "../refresh";
import { organizes, registrationIn, useOwnTeam } from "../roles";
import { go, type Screen, view } from "../route";
import { sampleOf } from "../run_formats";
import { formsOf, submissionTypes, typesOf, typesOfAny } from "../stage";
import { type Chosen, submit } from "../submission";
import { asksForTerms } from "../terms";
import { ChangedTerms } from "../ui/changed_terms";
import { CheckedFile } from "../ui/checked_file";
import { Tabs } from "../ui/choices";
import { Exceptions } from "../ui/exceptions";
import { Checks, Faults, Text } from "../ui/fields";
import { Form, hasDraft } from "../ui/form";
import { Left, Together, Window } from "../ui/quota";
import { nameOf } from "../ui/run_state";
import { Action, Failure, Items, Loaded, Tag } from "../ui/show";
import { say } from "../ui/status";
import { Audience, Description, Notes } from "../ui/submission_fields";
import { TakePart } from "../ui/take_part";
import { type OfTask, TaskFrame } from "../ui/task_nav";
import { filled, type Values } from "../ui/values";

type Dataset = Schemas["Dataset"];
type Task = Schemas["Task"];
type Type = Schemas["SubmissionDraft"]["type"];
const kinds: Record<Type, string> = { upload: "Files", image: "Container image", repository: "Repository" };

export default function Submit({ params, query }: Screen) {
  const baseline = query.has("baseline");
  return (
    <TaskFrame taskId={params.taskId!} title={baseline ? "Submit a baseline" : "Submit"} at="/submit">
      {of => <Kinds {...of} query={query} baseline={baseline} />}
    </TaskFrame>
  );
}

/** Unaccepted says to a team that is not accepted what it could submit to, if the organizers accept it. */
const Unaccepted = ({ task, of: r, all }: { task: Task; of: Registration; all: Listing<Dataset> }) => (
  <>
    <p class="empty">{waits(r)}</p>
    {r.state === "pending" && (
      <Items of={all} empty={<p>The task has no dataset.</p>}>
        {items => <Datasets of={items} task={task} quota={r.quota} state={r.state} baseline={false} />}
      </Items>
    )}
  </>
);

function Kinds({ task, me, query, baseline }: OfTask & { query: URLSearchParams; baseline: boolean }) {
  const mine = registrationIn(me, task.id);
  const ids = { taskId: task.id, registrationId: mine?.registrationId ?? "" };
  const team = useGet(mine && !baseline ? "/v1/tasks/{taskId}/registrations/{registrationId}" : null, { path: ids });
  const datasets = useList("/v1/datasets", { query: { "filter[taskId]": [task.id] } });
  if (baseline) return <Forms task={task} query={query} datasets={datasets} baseline quota={undefined} />;
  return (
    <>
      {organizes(me, task.organizerId) && mine?.state !== "accepted" && (
        <p class="notice">
          As an organizer, you can <a href={`#/tasks/${task.id}/submit?baseline=1`}>submit a baseline</a>.
        </p>
      )}
      {mine ? (
        <Loaded of={team}>
          {r =>
            r.state === "accepted" ? (
              <>
                <ChangedTerms task={task} of={r} />
                <Exceptions task={task} of={r} />
                <div
                  hidden={
                    asksForTerms({ task, of: r }) && !allOver(r.quota) /* keeps files until new terms are accepted */
                  }
                >
                  <Forms task={task} query={query} datasets={datasets} baseline={false} quota={r.quota} />
                </div>
              </>
            ) : (
              <Unaccepted task={task} of={r} all={datasets} />
            )
          }
        </Loaded>
      ) : (
        <p class="empty">
          Submitting takes a team. <TakePart task={task} me={me} />
        </p>
      )}
    </>
  );
}

type Quota = Schemas["Quota"];
type Registration = Schemas["Registration"];

type OfForm = {
  task: Schemas["Task"];
  query: URLSearchParams;
  datasets: Listing<Dataset>;
  baseline: boolean;
  quota: Quota | undefined;
};

/** Forms has a form for each type of submissions that a dataset of the task takes. Baselines have no quota. */
function Forms({ task, query, datasets, baseline, quota }: OfForm) {
  return (
    <Items of={datasets} empty={<p>The task has no dataset.</p>}>
      {all => {
        const types = typesOfAny(task, all);
        const type = (query.get("type") ?? types[0] ?? submissionTypes(task)[0]) as Type;
        return (
          <>
            {types.length > 1 && (
              <Tabs
                label="What you submit"
                options={Object.fromEntries(types.map(t => [t, kinds[t]]))}
                value={type}
                choose={t => view(query, { type: t })}
              />
            )}
            <Entry key={type} task={task} type={type} all={all} quota={quota} baseline={baseline} />
          </>
        );
      }}
    </Items>
  );
}

type Sending = { name: string; doing: string; share: number };

type OfEntry = { task: Schemas["Task"]; type: Type; all: Dataset[]; quota: Quota | undefined; baseline: boolean };

function Entry({ task, type, all, quota, baseline }: OfEntry) {
  const { team } = useOwnTeam(task.id);
  const alias = team?.anonymous && !baseline ? team.alias : "";
  const quotaOf = (d: Dataset): Schemas["DatasetQuota"] | undefined => quotaIn(quota, d);
  const datasets = all.filter(d => takes(quotaOf(d)) && typesOf(task, d).includes(type));
  const [files, setFiles] = useState<Record<string, File>>({});
  const [sending, setSending] = useState<Sending[]>([]);
  const [refused, setRefused] = useState<Problem>();
  const [earlier, setEarlier] = useState<{ made: Schemas["Submission"]; values: Values }>();
  const stop = useRef<AbortController>();
  const opened = useRef(false); // whether the form was shown
  opened.current ||= datasets.length > 0;
  const submitted = useRef(false);
  const [first] = useState<Values>({
    visibility: baseline ? "public" : "private",
    ...(type !== "upload" && { datasetIds: all.map(d => d.id) }),
  });
  const takesNow = (datasetId: string): boolean => datasets.some(d => d.id === datasetId);
  // A dataset can close, or its quota be used up, after a file was chosen for it.
  const chosen: Chosen[] = Object.entries(files).flatMap(([datasetId, file]) =>
    takesNow(datasetId) ? [{ datasetId, file }] : [],
  );
  const sentTo = (v: Values): Values => ({ ...v, datasetIds: ((v.datasetIds ?? []) as string[]).filter(takesNow) });
  const clear = (): void => {
    setFiles({});
    setEarlier(undefined);
  };
  const over = datasets.length === 0;
  const name = `submission ${task.id} ${type}`;
  const filledIn = opened.current && (Object.keys(files).length > 0 || hasDraft(name));
  const others = all.some(d => takes(quotaOf(d))); // Some dataset takes a run, but by another type of submissions.
  const none = (
    <>
      {refused && (
        <div class="notice" role="status">
          <p>Your last submission was refused: no run was made.</p>
          <Failure of={refused} />
        </div>
      )}
      <p class="empty">
        {others
          ? `No dataset of the task takes ${formsOf([type])}${baseline ? "" : " of your team"} now.`
          : "You can submit to no dataset of the task now."}
      </p>
    </>
  );
  if (over && (submitted.current || !filledIn))
    return (
      <>
        {none}
        <Datasets of={all} task={task} quota={quota} baseline={baseline} type={type} />
        {quota && <Together of={quota} />}
      </>
    );
  const tell = (name: string, doing: string, share: number): void =>
    setSending(all => [...all.filter(s => s.name !== name), { name, doing, share }]);
  const act = async (values: Values, again = false): Promise<void> => {
    setEarlier(undefined);
    setRefused(undefined);
    if (type === "upload" && chosen.length === 0)
      throw new Problem({
        title: "",
        detail: "",
        errors: [{ pointer: "/files", detail: "Choose a file for at least one dataset." }],
      });
    stop.current = new AbortController();
    const draft = filled({
      ...(type === "upload" ? values : sentTo(values)),
      type,
      ...(baseline && { baseline }),
      ...(again && { again }),
    });
    try {
      const sent = type === "upload" ? chosen : [];
      const { made, repeated, broken } = await submit(task.id, draft, sent, tell, stop.current.signal);
      submitted.current = !repeated || Boolean(broken);
      await refresh();
      if (repeated && !broken) return setEarlier({ made, values });
      say(
        broken
          ? `${broken.message} The submission is made: choose the file again to go on, or cancel the run, which then does not count.`
          : "Submitted.",
      );
      if (baseline && !broken) go(`/tasks/${task.id}/edit`);
      else go(made.runIds.length === 1 ? `/runs/${made.runIds[0]}` : `/tasks/${task.id}/runs`);
    } catch (error) {
      setRefused(toProblem(error)); // The form is not shown if the last dataset has closed, or no run is left.
      await refresh();
      throw error;
    } finally {
      setSending([]);
    }
  };
  const options = Object.fromEntries(datasets.map(d => [d.id, `${d.name} (${d.split})`]));
  return (
    <>
      {over && (
        <>
          {none}
          {!refused && (
            <p class="notice" role="status">
              {allClosed(quota) && "The last dataset has closed, so this form was not submitted."}
              {!allClosed(quota) && "What you entered here was not submitted."}
            </p>
          )}
        </>
      )}
      <fieldset class="bare" disabled={over} aria-label="Submission">
        <Form
          name={name}
          over={over}
          initial={first}
          button="Submit"
          {...(type === "upload" && { files: { chosen: Object.keys(files).length > 0, clear } })}
          submit={v => act(v)}
        >
          {f => (
            <>
              {quota && <Together of={quota} />}
              {type === "upload" && (
                <div data-field="files">
                  {all.map(d => (
                    <fieldset key={d.id} class="field">
                      <legend>
                        <bdi>{d.name}</bdi> <Tag>{d.split}</Tag>
                      </legend>
                      <p class="small">
                        <Conditions of={d} task={task} quota={quota} baseline={baseline} type={type} />
                      </p>
                      {!takesNow(d.id) && files[d.id] && (
                        <p class="small">
                          The file <bdi>{files[d.id]!.name}</bdi> that you chose for it is not submitted.
                        </p>
                      )}
                      {takesNow(d.id) && (
                        <RunFile
                          of={d}
                          chosen={files[d.id]}
                          refused={diagnosticsOf(
                            f.faults,
                            chosen.findIndex(c => c.datasetId === d.id),
                          )}
                          choose={file => {
                            f.markEdited("files");
                            setFiles(chosen => ({ ...chosen, [d.id]: file }));
                          }}
                        />
                      )}
                    </fieldset>
                  ))}
                  <Faults f={{ ...f, faults: f.faults.filter(e => !ofFile(e)) }} name="files" />
                </div>
              )}
              {type !== "upload" && <Datasets of={all} task={task} quota={quota} baseline={baseline} type={type} />}
              {type === "image" && (
                <Text
                  f={f}
                  name="image"
                  label="Image"
                  required
                  max={500}
                  hint={
                    <>
                      With its registry, such as <code>docker.io/lab/ranker:1.0</code>.
                    </>
                  }
                />
              )}
              {type === "repository" && (
                <>
                  <Text f={f} name="url" type="url" label="Address of the repository" required max={500} />
                  <Text f={f} name="ref" label="Branch, tag or commit" max={200} />
                </>
              )}
              {type !== "upload" && (
                <>
                  <Text
                    f={f}
                    name="command"
                    label="Command"
                    max={2000}
                    hint="Runs in the container. Without a command, the container starts its default one."
                  />
                  <Checks f={f} name="datasetIds" label="Run it on" options={options} />
                </>
              )}
              <Text f={f} name="title" label="Title" max={200} hint="What you call this run, such as the method." />
              <Notes f={f} baseline={baseline} />
              <details>
                <summary>Details</summary>
                <Description f={f} alias={alias} />
                <Text f={f} name="paperUrl" type="url" label="Paper" max={500} />
                <Audience f={f} baseline={baseline} alias={alias} />
              </details>
              {earlier && (
                <div class="notice" role="status">
                  <p>
                    {baseline ? "You have" : "Your team has"} submitted the same before: <Runs of={earlier.made} />.
                    Nothing new was made or counted.
                  </p>
                  <p class="actions">
                    <Action plain run={() => act(earlier.values, true)}>
                      Submit again
                    </Action>
                  </p>
                </div>
              )}
              {sending.map(s => (
                <p key={s.name}>
                  <label>
                    {s.doing} <bdi>{s.name}</bdi> <progress value={s.share} max={1} />
                  </label>
                </p>
              ))}
              {sending.length > 0 && (
                <p>
                  <button type="button" class="plain" onClick={() => stop.current?.abort()}>
                    Stop
                  </button>
                </p>
              )}
            </>
          )}
        </Form>
      </fieldset>
    </>
  );
}

/** Runs links to the runs of a submission. */
const Runs = ({ of: s }: { of: Schemas["Submission"] }) => (
  <>
    {s.runIds.map((runId, i) => (
      <Fragment key={runId}>
        {i > 0 && ", "}
        <a href={`#/runs/${runId}`}>
          <bdi>{nameOf({ title: s.title, runId })}</bdi>
        </a>
      </Fragment>
    ))}
  </>
);

const quotaIn = (quota: Quota | undefined, d: Dataset): Schemas["DatasetQuota"] | undefined =>
  quota?.datasets?.find(q => q.datasetId === d.id);

/**
 * Submitter is a team of the task with its quota and its state, or an organizer who submits a baseline, and the type of the
 * submission if it is known.
 */
type Submitter = {
  task: Task;
  quota: Quota | undefined;
  state?: Registration["state"];
  baseline: boolean;
  type?: Type;
};

/** Datasets shows the conditions of each dataset. */
const Datasets = ({ of: all, ...by }: { of: Dataset[] } & Submitter) => (
  <ul>
    {all.map(d => (
      <li key={d.id}>
        <bdi>{d.name}</bdi> <Tag>{d.split}</Tag> <Conditions of={d} {...by} />
      </li>
    ))}
  </ul>
);

/** Conditions says whether and until when a dataset takes runs, whether a worker serves them, and when their scores are shown. */
function Conditions({ of: d, task, quota, state = "accepted", baseline, type }: { of: Dataset } & Submitter) {
  const q = quotaIn(quota, d);
  const forms = typesOf(task, d);
  if (type && !forms.includes(type))
    return (
      <>
        This dataset takes {forms.length > 0 && "only "}
        {formsOf(forms)}.
      </>
    );
  return (
    <>
      {q && (
        <>
          This dataset <Window of={q} state={state} />
          {q.open && (
            <>
              : <Left of={q} within={quota!} />
            </>
          )}
          .{" "}
        </>
      )}
      {q?.open && type && unservedNote(q, type)} {baseline && <OfBaseline datasetId={d.id} type={type} />}
      {!baseline && !(q && hasClosed(q)) && scoresNote(d)}
    </>
  );
}

/** OfBaseline says whether a worker serves baselines on a dataset, and when others see their scores. */
function OfBaseline({ datasetId, type }: { datasetId: string } & Pick<Submitter, "type">) {
  const d = useGet("/v1/datasets/{datasetId}", { path: { datasetId } }).data;
  return (
    d && (
      <>
        {type && unservedNote(d, type)} {baselineNote(d)}
      </>
    )
  );
}

type OfFile = {
  of: Dataset;
  chosen: File | undefined;
  refused: Schemas["Diagnostic"][];
  choose: (file: File) => void;
};

/** Sample shows the first lines of a run on a dataset, or one line if all are alike. */
const Sample = ({ of: d }: { of: Dataset }) => {
  const [first, second] = sampleOf(d).split("\n");
  if (second === undefined)
    return (
      <>
        A line of it looks like <code>{first}</code>
      </>
    );
  return (
    <>
      Its first lines look like <code>{first}</code> and <code>{second}</code>
    </>
  );
};

/** RunFile is the field for the file of a run, with the diagnostics of the server. */
const RunFile = ({ of: d, chosen, refused, choose }: OfFile) => (
  <CheckedFile
    label={`Run on ${d.name}`}
    chosen={chosen}
    choose={choose}
    refused={refused}
    as={files => ({ datasetId: d.id, run: { files } })}
    good="The file can be submitted. Only the evaluation compares it with the ground truth."
    bad="Correct the file, and choose it again. Nothing is counted yet."
    hint={
      <>
        Drop a file here, or choose one. <Sample of={d} />
      </>
    }
  />
);

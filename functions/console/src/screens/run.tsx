// One run: its live state, diagnostics, scores by topic and log, and the actions of its team.
import { useState } from "preact/hooks";
import { patch, type Schemas } from "../api";
import { laterNote } from "../column_notes";
import { instantOf, type Reader, readerOf } from "../column_rules";
import { cellOf, columnName, columnsOf, decimals, rankingKey, resultOf } from "../columns";
import { done, useGet, useNewest } from "../data";
import { isNote } from "../faults";
import { compareNames } from "../order";
import { gone } from "../problem";
import { noticeOf, waitsFor } from "../queue_words";
import { flags } from "../review_changes";
import { organizes, useMe } from "../roles";
import { go, type Screen } from "../route";
import { Resume, RunActions } from "../run_actions";
import { againstNote, isBaseline, isOurs } from "../run_rules";
import { teamName } from "../team_name";
import { Chart } from "../ui/chart";
import { Select } from "../ui/choices";
import { useFreshAt } from "../ui/clock";
import { ColumnName } from "../ui/column_name";
import { download } from "../ui/download";
import { Text } from "../ui/fields";
import { Diagnostics } from "../ui/file_field";
import { Files } from "../ui/files";
import { Form } from "../ui/form";
import { Markdown } from "../ui/lazy";
import { MissingRun } from "../ui/missing_run";
import { RunSelect, useRivals } from "../ui/rivals";
import { ended, nameOf, ranks, StateTag } from "../ui/run_state";
import { Action, Heading, Loaded, Members, Row, Table, Tag } from "../ui/show";
import { Audience, Description, Notes } from "../ui/submission_fields";
import { SubmitLink } from "../ui/submit_link";
import { When } from "../ui/time";
import { mergePatch, type Values } from "../ui/values";
import { Visible } from "../ui/visible";

type Run = Schemas["Run"];
type Evaluation = Schemas["Evaluation"];

export default function RunScreen({ params }: Screen) {
  const runId = params.runId!;
  const run = useGet("/v1/runs/{runId}", { path: { runId } }, { refreshInterval: r => (r && !ended(r) ? 2000 : 0) });
  if (gone(run.error)) return <MissingRun runId={runId} of={run} />;
  return (
    <Visible of={run} title="Run">
      {r => <One of={r} />}
    </Visible>
  );
}

function One({ of: r }: { of: Run }) {
  const me = useMe();
  const task = useGet("/v1/tasks/{taskId}", { path: { taskId: r.taskId } }).data;
  const dataset = useGet("/v1/datasets/{datasetId}", { path: { datasetId: r.datasetId } }).data;
  const closesAt = dataset?.submissions?.closesAt ?? task?.submissions?.closesAt;
  useFreshAt([closesAt, ...(dataset?.columns ?? []).map(instantOf)]);
  const ours = isOurs(me, r);
  const organizer = Boolean(task && organizes(me, task.organizerId));
  const review = useGet(ours && ended(r) ? "/v1/runs/{runId}/review" : null, { path: { runId: r.id } }).data;
  return (
    <>
      <p class="small">
        <a href={`#/tasks/${r.taskId}`}>
          <bdi>{task?.name ?? "Task"}</bdi>
        </a>{" "}
        · <bdi>{dataset?.name ?? ""}</bdi>
      </p>
      <Heading title={nameOf(r)}>
        <bdi>{nameOf(r)}</bdi>
      </Heading>
      <p>
        <StateTag of={r.state} /> {r.final && <Tag kind="good">final</Tag>} <bdi>{teamName(r)}</bdi>,{" "}
        <When at={r.createdAt} />
        {r.attempts > 1 && `, attempt ${r.attempts}`}
      </p>
      <Waiting of={r} dataset={dataset} />
      {noticeOf(r, dataset) && <p class="notice">{noticeOf(r, dataset)}</p>}
      <p class="actions">
        {(ours || organizer) && (
          <RunActions
            of={r}
            dataset={dataset}
            organizer={organizer}
            ours={ours}
            published={review?.published}
            deleted={() => go(`/tasks/${r.taskId}/${ours ? "runs" : `desk?dataset=${r.datasetId}`}`)}
          />
        )}
        {r.state === "failed" && ours && isBaseline(r) && organizer && (
          <a class="button" href={`#/tasks/${r.taskId}/submit?baseline=1`}>
            Submit again
          </a>
        )}
        {r.state === "failed" && ours && !isBaseline(r) && (
          <SubmitLink taskId={r.taskId} datasetId={r.datasetId}>
            Submit again
          </SubmitLink>
        )}
        {organizer && (
          <a class="button" href={`#/runs/${r.id}/review`}>
            Review
          </a>
        )}
      </p>
      {r.state === "awaiting-upload" && ours && <Resume of={r} />}
      {r.diagnostics.some(d => !isNote(d)) && <h2>What is wrong</h2>}
      <Diagnostics of={r.diagnostics} />
      {r.evaluationId && (
        <Scores evaluationId={r.evaluationId} run={r} dataset={dataset} reader={readerOf(organizer, ours)} />
      )}
      {review && <Reviewed of={review} />}
      {(r.logTail || (!ended(r) && r.state === "running")) && <Log text={r.logTail} file={r.log} name="Log" />}
      {r.evaluationLogTail && <Log text={r.evaluationLogTail} file={r.evaluationLog} name="Log of the evaluation" />}
      {r.files.some(f => f.name) && (
        <>
          <h2>Files</h2>
          <Files of={r.files} />
          {ranks(dataset?.evaluator.kind) && r.files.some(f => f.url) && (
            <p class="actions">
              {Object.entries({ jsonl: "JSON Lines", csv: "CSV" }).map(([to, said]) => (
                <Action
                  key={to}
                  plain
                  run={() =>
                    download("/v1/tools/converter", "text/plain", `${nameOf(r)}.${to}`, { run: { runId: r.id }, to })
                  }
                >
                  Download as {said}
                </Action>
              ))}
            </p>
          )}
        </>
      )}
      <Described of={r} />
      {ours && <Said run={r} />}
    </>
  );
}

/** Waiting says what a queued run waits for. Organizers are also told if no worker was seen. */
function Waiting({ of: r, dataset }: { of: Run; dataset: Schemas["Dataset"] | undefined }) {
  const said = waitsFor(r, dataset);
  if (!said) return null;
  const warnings = said.includes("worker") ? (dataset?.diagnostics ?? []).filter(d => d.severity === "warning") : [];
  return (
    <div class="notice">
      <p>
        The run {said}
        {r.queuedAt && (
          <>
            , since <When at={r.queuedAt} />
          </>
        )}
        . This page shows when it begins.
      </p>
      {warnings.map(d => (
        <p key={d.message}>{d.message}</p>
      ))}
    </div>
  );
}

/** Reviewed shows the review of the organizers to the team. The comment stays if they want to review the run again. */
function Reviewed({ of: v }: { of: Schemas["Review"] }) {
  if (!v.reviewedAt && !v.comment) return null;
  const found = Object.entries(flags)
    .filter(([name]) => v[name as keyof typeof flags])
    .map(([, said]) => said);
  return (
    <>
      <h2>Review</h2>
      <p>
        {v.published && <Tag kind="good">published</Tag>} {v.blinded && <Tag kind="warm">blinded</Tag>}{" "}
        {v.reviewedAt && (
          <>
            Reviewed <When at={v.reviewedAt} />.
          </>
        )}{" "}
        {found.map(said => `${said}.`).join(" ")}
      </p>
      {v.comment && <Markdown source={v.comment} top={3} />}
    </>
  );
}

const Log = ({ text, file, name }: { text: string; file: Schemas["File"] | undefined; name: string }) => (
  <>
    <h2>{name}</h2>
    <pre tabIndex={0} role="group" aria-label={name}>
      {text || "Nothing yet."}
    </pre>
    {file?.url && (
      <p>
        <a href={file.url}>The whole log</a>
      </p>
    )}
  </>
);

type OfScores = {
  evaluationId: string;
  run: Run;
  dataset: Schemas["Dataset"] | undefined;
  reader: Reader;
};

function Scores({ evaluationId, run, dataset, reader }: OfScores) {
  const evaluation = useGet("/v1/evaluations/{evaluationId}", { path: { evaluationId } });
  return (
    <>
      <h2>Scores</h2>
      <Loaded of={evaluation}>
        {e => (
          <>
            {againstNote(run, e, dataset) && <p class="notice">{againstNote(run, e, dataset)}</p>}
            <Members
              of={columnsOf(e, dataset).map(c => [
                <>
                  <ColumnName of={c} />
                  {c.key === rankingKey(columnsOf(e, dataset), reader === "organizers") && (
                    <span class="small"> (ranks)</span>
                  )}
                </>,
                <>
                  {cellOf(c, resultOf(e, c.key))}{" "}
                  {resultOf(e, c.key) === null && (
                    <span class="small quiet">{String(e.reasons?.[c.key as never] ?? "")}</span>
                  )}
                </>,
              ])}
            />
            {laterNote(dataset?.columns, e.columns, reader) && (
              <p class="small">{laterNote(dataset?.columns, e.columns, reader)}</p>
            )}
            <Compare run={run} dataset={dataset} />
            {ranks(e.evaluator.kind) && (
              <p>
                <a href={`#/runs/${run.id}/serp`}>What the run retrieved for each topic</a>
              </p>
            )}
            {e.classes && <Classes of={e.classes} runId={run.id} charted={run.state !== "failed"} />}
            <Topics of={e} dataset={dataset} />
          </>
        )}
      </Loaded>
    </>
  );
}

/** Compare links to the comparison with another run of the dataset: the best, a baseline, or a run of the reader. */
function Compare({ run: r, dataset }: Pick<OfScores, "run" | "dataset">) {
  const others = useRivals(r.datasetId).filter(e => e.runId !== r.id);
  if (others.length === 0) return null;
  return (
    <RunSelect
      id="compare"
      label="Compare with"
      of={others}
      dataset={dataset}
      choose={runId => go(`/compare?runs=${r.id},${runId}`)}
    />
  );
}

/**
 * Classes shows the confusion matrix of the labels, as a picture and in numbers. The tool that draws the picture has no
 * values of a run that failed against the present ground truth.
 */
const Classes = ({ of: c, runId, charted }: { of: Schemas["Classes"]; runId: string; charted: boolean }) => (
  <>
    <h2>By label</h2>
    {charted && (
      <Chart
        tool="evaluator"
        input={{ runs: [{ runId }] }}
        alt="Confusion matrix; the table below has the same numbers"
      />
    )}
    <Table
      named
      label="Values by label"
      head={[
        "True label",
        ...["Precision", "Recall", "F1", "Examples", ...c.labels.map(l => `as ${l.label}`)].map(number => ({ number })),
      ]}
    >
      {c.labels.map((l, i) => (
        <Row
          key={l.label}
          head={<bdi>{l.label}</bdi>}
          numbers={[...[l.precision, l.recall, l.f1].map(decimals), l.support, ...c.matrix[i]!]}
        />
      ))}
    </Table>
  </>
);

const page = 50;

/** Topics shows the values by topic, the worst first. */
function Topics({ of: e, dataset }: { of: Evaluation; dataset: OfScores["dataset"] }) {
  const [chosen, setMeasure] = useState("");
  const [shown, setShown] = useState(page);
  const all = Object.entries((e.perTopic ?? {}) as Record<string, Record<string, number | null>>);
  const columns = columnsOf(e, dataset).filter(c => all.some(([, v]) => c.key in v));
  const column = columns.find(c => c.key === chosen) ?? columns[0];
  if (!column) return null;
  const values = all
    .map(([topic, v]) => ({ topic, value: v[column.key] ?? null }))
    .sort((a, b) => compareNames(a.topic, b.topic))
    .sort((a, b) => (a.value === b.value ? 0 : (a.value ?? Infinity) - (b.value ?? Infinity)));
  const unit = ranks(e.evaluator.kind) || e.evaluator.kind === "worker" ? "topic" : "example";
  const most = Math.max(1, ...values.map(v => v.value ?? 0));
  return (
    <>
      <h2>By {unit}</h2>
      <Select
        id="measure"
        label="Measure"
        value={column.key}
        choose={setMeasure}
        options={Object.fromEntries(columns.map(c => [c.key, columnName(c)]))}
      />
      <Table
        label={`Values by ${unit}`}
        head={[unit === "topic" ? "Topic" : "Example", { number: columnName(column) }, "lowest first"]}
      >
        {values.slice(0, shown).map(v => (
          <Row key={v.topic} head={<bdi>{v.topic}</bdi>} numbers={[cellOf(column, v.value)]}>
            <td>
              {v.value !== null && <meter min={Math.min(0, v.value)} max={most} value={v.value} aria-hidden="true" />}
            </td>
          </Row>
        ))}
      </Table>
      {values.length > shown && (
        <button type="button" class="plain" onClick={() => setShown(shown + page)}>
          Show more of {values.length} {unit}s
        </button>
      )}
    </>
  );
}

const ofSubmission = "/v1/tasks/{taskId}/submissions/{submissionId}";

/** Described shows what the team says about the submission, to everyone who sees the submission. */
function Described({ of: r }: { of: Run }) {
  const { data: s } = useGet(ofSubmission, { path: { taskId: r.taskId, submissionId: r.submissionId } });
  if (!s?.description && !s?.paperUrl) return null;
  return (
    <>
      <h2>About the submission</h2>
      {s.description && <Markdown source={s.description} top={3} />}
      {s.paperUrl && (
        <p>
          Paper:{" "}
          <a href={s.paperUrl} rel="nofollow ugc noopener">
            {s.paperUrl}
          </a>
        </p>
      )}
    </>
  );
}

/** Said is the form of the texts that the team writes about the run and its submission. */
function Said({ run: r }: { run: Run }) {
  const ids = { taskId: r.taskId, submissionId: r.submissionId };
  const alias = r.alias ?? "";
  const submission = useGet(ofSubmission, { path: ids });
  const { newest, latest } = useNewest(submission.data, () => submission.mutate());
  const fields = (s: Schemas["Submission"]): Values => ({
    title: s.title,
    notes: s.notes,
    description: s.description,
    paperUrl: s.paperUrl,
    visibility: s.visibility ?? "private",
  });
  return (
    <>
      <h2>Title and notes</h2>
      <Loaded of={submission}>
        {s => (
          <Form
            name={`submission ${s.id}`}
            initial={fields(s)}
            latest={async () => fields((await latest()) ?? s)}
            submit={(v, base) => done(patch(ofSubmission, ids, mergePatch(base, v), newest.current), "Saved.")}
          >
            {f => (
              <>
                <Text f={f} name="title" label="Title" max={200} />
                <Notes f={f} baseline={isBaseline(r)} />
                <Description f={f} alias={alias} />
                <Text f={f} name="paperUrl" type="url" label="Paper" max={500} />
                <Audience f={f} baseline={isBaseline(r)} alias={alias} />
              </>
            )}
          </Form>
        )}
      </Loaded>
    </>
  );
}

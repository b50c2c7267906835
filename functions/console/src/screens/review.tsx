// The review of one run by the organizers of its task.
import { effects, patch, type Schemas } from "../api";
import { cellOf, columnsOf, resultOf } from "../columns";
import { done, useGet, useList, useNewest } from "../data";
import { gone } from "../problem";
import { commentHint, flags, publishedHint } from "../review_changes";
import { go, type Screen } from "../route";
import { againstNote, isBaseline } from "../run_rules";
import { teamName } from "../team_name";
import { useRejected } from "../teams";
import { ColumnName } from "../ui/column_name";
import { Area, Check } from "../ui/fields";
import { Diagnostics } from "../ui/file_field";
import { Form } from "../ui/form";
import { MissingRun } from "../ui/missing_run";
import { nameOf, StateTag } from "../ui/run_state";
import { Heading, Loaded, Members, Tag } from "../ui/show";
import { When } from "../ui/time";
import { mergePatch, type Values } from "../ui/values";

const path = "/v1/runs/{runId}/review";

export default function ReviewScreen({ params }: Screen) {
  const runId = params.runId!;
  const run = useGet("/v1/runs/{runId}", { path: { runId } });
  const review = useGet(path, { path: { runId } });
  if (gone(run.error)) return <MissingRun runId={runId} of={run} />;
  return (
    <Loaded of={run} title="Review">
      {r => (
        <Loaded of={review} title="Review">
          {v => <One run={r} review={v} reload={review.mutate} />}
        </Loaded>
      )}
    </Loaded>
  );
}

const fields = (r: Schemas["Review"]): Values => ({
  ...Object.fromEntries(Object.keys(flags).map(f => [f, r[f as keyof typeof flags]])),
  comment: r.comment,
  blinded: r.blinded,
  published: r.published,
});

// An unticked checkbox is absent in the values of a form, and false in a review.
const decided = (patch: Values): Values =>
  Object.fromEntries(Object.entries(patch).map(([k, v]) => [k, v ?? (k === "comment" ? "" : false)]));

type Review = Schemas["Review"];

function One({
  run: r,
  review: v,
  reload,
}: {
  run: Schemas["Run"];
  review: Review;
  reload: () => Promise<Review | undefined>;
}) {
  const { newest, latest } = useNewest(v, reload);
  const evaluation = useGet(r.evaluationId ? "/v1/evaluations/{evaluationId}" : null, {
    path: { evaluationId: r.evaluationId ?? "" },
  }).data;
  const dataset = useGet("/v1/datasets/{datasetId}", { path: { datasetId: r.datasetId } }).data;
  const rejected = useRejected([r.taskId]).data?.get(r.taskId);
  const others =
    useList("/v1/runs", {
      query: { "filter[datasetId]": [r.datasetId], "filter[state]": ["completed", "failed"], limit: 100 },
    }).items ?? [];
  const at = others.findIndex(o => o.id === r.id);
  const [newer, older] = at < 0 ? [undefined, undefined] : [others[at - 1], others[at + 1]];
  const save = async (values: Values, base: Values): Promise<void> => {
    await done(
      patch(path, { runId: r.id }, decided(mergePatch(base, values)), newest.current),
      "The review is saved.",
      () => patch(path, { runId: r.id }, { ...decided(mergePatch(values, base)), waits: !v.reviewedAt }),
    );
    if (older) go(`/runs/${older.id}/review`);
  };
  return (
    <>
      <p class="small">
        <a href={`#/tasks/${r.taskId}/desk?dataset=${r.datasetId}`}>Runs to review</a> ·{" "}
        <a href={`#/runs/${r.id}`}>The run</a>
      </p>
      <Heading title={`Review ${nameOf(r)}`}>
        Review <bdi>{nameOf(r)}</bdi>
      </Heading>
      <p>
        <StateTag of={r.state} /> {r.final && <Tag kind="good">final</Tag>} <bdi>{teamName(r)}</bdi>
        {dataset && (
          <>
            , <bdi>{dataset.name}</bdi>
          </>
        )}
        , <When at={r.createdAt} />.{" "}
        {v.reviewedAt ? (
          <>
            Reviewed <When at={v.reviewedAt} /> by{" "}
            <bdi>{v.reviewer?.name || v.reviewer?.email || "a user without a name"}</bdi>.
          </>
        ) : (
          "Not reviewed yet."
        )}
      </p>
      <p class="actions">
        {newer && <a href={`#/runs/${newer.id}/review`}>Newer run</a>}
        {older && <a href={`#/runs/${older.id}/review`}>Older run</a>}
        {r.files.map(
          f =>
            f.url && (
              <a key={f.name} href={f.url}>
                <bdi>{f.name}</bdi>
              </a>
            ),
        )}
      </p>
      {rejected?.has(r.registrationId ?? "") && (
        <p class="notice">
          The organizers rejected the team, so its runs are left out where several are published together.
          {!v.published && " Here you can publish this one."}
        </p>
      )}
      {v.notice && <p class="notice">{v.notice}</p>}
      {evaluation && againstNote(r, evaluation, dataset) && <p class="notice">{againstNote(r, evaluation, dataset)}</p>}
      {evaluation && (
        <Members
          of={columnsOf(evaluation, dataset).map(c => [<ColumnName of={c} />, cellOf(c, resultOf(evaluation, c.key))])}
        />
      )}
      <Diagnostics of={v.diagnostics ?? r.diagnostics} />
      <Form
        name={`review ${r.id}`}
        initial={fields(v)}
        button="Save the review"
        submit={save}
        preview={(values, base) => effects("PATCH", path, { runId: r.id }, decided(mergePatch(base, values)))}
        latest={async () => fields(await latest())}
      >
        {f => (
          <>
            <fieldset class="field">
              <legend>What you found</legend>
              {Object.entries(flags).map(([name, label]) => (
                <Check key={name} f={f} name={name} label={label} />
              ))}
            </fieldset>
            <Area
              f={f}
              name="comment"
              label={isBaseline(r) ? "Comment" : "Comment for the team"}
              hint={commentHint(r, isBaseline(r))}
            />
            <Check
              f={f}
              name="blinded"
              label="Blinded"
              hint={`Only the organizers see the scores${isBaseline(r) ? "" : ", not even the team"}.`}
            />
            <Check f={f} name="published" label="Published" hint={dataset && publishedHint(r, f.values, dataset)} />
          </>
        )}
      </Form>
    </>
  );
}

// Publishing many runs at once.
import { preview, type Schemas } from "./api";
import { withheldNote } from "./column_rules";
import { read } from "./data";
import { type Candidate, publishable, questionOf } from "./publishing_question";
import { chunks, withholds } from "./review_changes";
import { evaluationsOf } from "./scores";

/** change unblinds and publishes a run. */
export const change: Schemas["ReviewChange"] = { blinded: false, published: true };

const most = 100; // runs that one request reviews
const atOnce = 8; // requests

/** finalsOf counts the runs that are marked as final. It is undefined if none of their datasets takes final runs. */
async function finalsOf(runs: Candidate[]): Promise<number | undefined> {
  const choosable = await onFinalDatasets(runs);
  return choosable.length > 0 ? markedOf(choosable) : undefined;
}

/** onFinalDatasets returns the runs of datasets that take final runs. */
async function onFinalDatasets(runs: Candidate[]): Promise<Candidate[]> {
  const takes = new Set<string>();
  for (const some of chunks([...new Set(runs.map(r => r.datasetId))], atOnce)) {
    const reads = some.map(datasetId => read("/v1/datasets/{datasetId}", { path: { datasetId } }));
    for (const d of await Promise.all(reads)) if (d.finalRuns) takes.add(d.id);
  }
  return runs.filter(r => takes.has(r.datasetId));
}

/**
 * markedOf counts the runs that are marked as final now: the list on the screen can be older. A run stays final when it
 * fails again, after which lists may show no evaluation of it.
 */
async function markedOf(runs: Candidate[]): Promise<number> {
  const ids = runs.map(r => r.runId);
  const final = new Map((await evaluationsOf(ids)).map(e => [e.runId, e.final]));
  const unlisted = ids.filter(id => !final.has(id));
  for (const some of chunks(unlisted, atOnce)) {
    const reads = some.map(runId => read("/v1/runs/{runId}", { path: { runId }, query: { fields: ["id", "final"] } }));
    for (const r of await Promise.all(reads)) final.set(r.id, r.final);
  }
  return [...final.values()].filter(Boolean).length;
}

/**
 * question previews a change that unblinds or publishes runs, and returns what organizers are asked. verb is the label of
 * the button.
 */
export async function question(verb: string, change: Schemas["ReviewChange"], all: Candidate[]): Promise<string> {
  const runs = change.published ? publishable(all) : all;
  const counts = new Map<string, number>();
  const withheld: string[] = [];
  for (const [datasetId, group] of Map.groupBy(runs, r => r.datasetId)) {
    let withholding = false;
    for (const some of chunks(group, most)) {
      const body = { runIds: some.map(r => r.runId), review: change };
      const { resource, effects } = await preview("PATCH", "/v1/datasets/{datasetId}/reviews", { datasetId }, body);
      withholding ||= (resource as Schemas["ReviewedRuns"]).data.some(r => withholds(r.review));
      for (const e of effects)
        if (e.kind === "audience" && e.after && e.subject.startsWith("/v1/evaluations"))
          counts.set(e.after, (counts.get(e.after) ?? 0) + (e.count ?? 1));
    }
    if (!withholding) continue;
    const d = await read("/v1/datasets/{datasetId}", {
      path: { datasetId },
      query: { fields: ["id", "name", "columns"] },
    });
    withheld.push(withheldNote(d.columns, d.name));
  }
  return questionOf(
    verb,
    runs,
    await finalsOf(runs),
    all.length - runs.length,
    [...counts].map(([audience, runs]) => ({ audience, runs })),
    withheld,
  );
}

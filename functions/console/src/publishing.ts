// Publishing many runs at once.
import { effects, type Schemas } from "./api";
import { type Candidate, publishable, questionOf } from "./publishing_question";
import { chunks } from "./review_changes";

/** change unblinds and publishes a run. */
export const change: Schemas["ReviewChange"] = { blinded: false, published: true };

const most = 100; // runs that one request reviews

/** question previews the publication of runs, and returns what organizers are asked. */
export async function question(all: Candidate[]): Promise<string> {
  const counts = new Map<string, number>();
  for (const [datasetId, group] of Map.groupBy(publishable(all), r => r.datasetId))
    for (const some of chunks(group, most)) {
      const body = { runIds: some.map(r => r.runId), review: change };
      for (const e of await effects("PATCH", "/v1/datasets/{datasetId}/reviews", { datasetId }, body))
        if (e.kind === "audience" && e.after && e.subject.startsWith("/v1/evaluations"))
          counts.set(e.after, (counts.get(e.after) ?? 0) + (e.count ?? 1));
    }
  return questionOf(
    all,
    [...counts].map(([audience, runs]) => ({ audience, runs })),
  );
}

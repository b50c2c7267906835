// Reviews of many runs at once, and back.
import { patch, type Schemas } from "./api";
import { read } from "./data";

type Review = Schemas["Review"];
type Change = Schemas["ReviewChange"];

/** flags are what reviews say of a run's output. */
export const flags = {
  noErrors: "No errors", missingOutput: "Output is missing", extraneousOutput: "There is output that was not asked for", invalidOutput: "Output is not valid",
  hasErrorOutput: "It wrote to the error output", otherErrors: "Other errors",
};

const atOnce = 8;
const request = 100; // runs that one request reviews at most

/** reviewsOf reads the reviews of runs. */
export async function reviewsOf(runIds: string[]): Promise<Review[]> {
  const all: Review[] = [];
  for (let at = 0; at < runIds.length; at += atOnce) {
    all.push(...await Promise.all(runIds.slice(at, at + atOnce).map(runId => read("/v1/runs/{runId}/review", { params: { path: { runId } } }))));
  }
  return all;
}

/** review changes the reviews of runs of a dataset, and returns what became of each. */
export async function review(datasetId: string, runIds: string[], change: Change): Promise<Schemas["ReviewedRun"][]> {
  const all: Schemas["ReviewedRun"][] = [];
  for (let at = 0; at < runIds.length; at += request) {
    all.push(...(await patch("/v1/datasets/{datasetId}/reviews", { datasetId }, { runIds: runIds.slice(at, at + request), review: change })).data);
  }
  return all;
}

/** takeBack gives published and blinded of reviews the values that they had. */
export async function takeBack(datasetId: string, before: Review[]): Promise<void> {
  for (const published of [true, false]) {
    for (const blinded of [true, false]) {
      const runIds = before.filter(r => r.published === published && r.blinded === blinded).map(r => r.runId);
      await review(datasetId, runIds, { published, blinded });
    }
  }
}

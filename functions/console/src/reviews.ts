// Changing the reviews of many runs at once, and undoing the changes.
import { patch, type Schemas } from "./api";
import { read } from "./data";
import { Problem } from "./problem";
import { changes, changesBack, chunks, withholds } from "./review_changes";

type Review = Schemas["Review"];
type Change = Schemas["ReviewChange"];

const atOnce = 8; // requests
const most = 100; // runs that one request reviews

/** reviewsOf reads the reviews of runs. */
async function reviewsOf(runIds: string[]): Promise<Review[]> {
  const all: Review[] = [];
  for (const some of chunks(runIds, atOnce)) {
    const reads = some.map(runId => read("/v1/runs/{runId}/review", { path: { runId } }));
    all.push(...(await Promise.all(reads)));
  }
  return all;
}

/** review changes the reviews of runs of a dataset, and returns the result for each run. */
async function review(datasetId: string, runIds: string[], change: Change): Promise<Schemas["ReviewedRun"][]> {
  const all: Schemas["ReviewedRun"][] = [];
  for (const some of chunks(runIds, most)) {
    const body = { runIds: some, review: change };
    const { data } = await patch("/v1/datasets/{datasetId}/reviews", { datasetId }, body);
    all.push(...data);
  }
  return all;
}

/**
 * conclude changes the reviews of runs on any datasets. It leaves out runs whose reviews have the values already, because
 * a request for them would mark them as reviewed. Runs that waited for a review all change. It returns the number of
 * changed reviews, the runs whose review was refused, whether a dataset of the others withholds scores now, and a function
 * that undoes the other changes.
 */
export async function conclude(
  runs: { runId: string; datasetId: string }[],
  change: Change,
  waited?: boolean,
): Promise<{ changed: number; failed: Schemas["ReviewedRun"][]; withheld: boolean; undo: () => Promise<void> }> {
  const failed: Schemas["ReviewedRun"][] = [];
  const former = new Map<string, Review[]>(); // reviews before the change, by dataset
  let withheld = false;
  for (const [datasetId, group] of Map.groupBy(runs, r => r.datasetId)) {
    const before = (await reviewsOf(group.map(r => r.runId))).filter(b => waited || changes(b, change));
    const results = await review(
      datasetId,
      before.map(b => b.runId),
      change,
    );
    failed.push(...results.filter(a => a.problem));
    withheld ||= results.some(a => withholds(a.review));
    former.set(
      datasetId,
      before.filter(b => results.some(a => a.runId === b.runId && a.changed)),
    );
  }
  const changed = [...former.values()].reduce((sum, reviews) => sum + reviews.length, 0);
  const undo = async (): Promise<void> => {
    for (const [datasetId, before] of former) await takeBack(datasetId, before, waited);
  };
  return { changed, failed, withheld, undo };
}

/** takeBack restores the former flags of reviews, and makes runs wait for a review again that waited before. */
async function takeBack(datasetId: string, before: Review[], waited?: boolean): Promise<void> {
  for (const { change, runIds } of changesBack(before, waited)) {
    const failed = (await review(datasetId, runIds, change)).find(a => a.problem);
    if (failed) throw new Problem(failed.problem!);
  }
}

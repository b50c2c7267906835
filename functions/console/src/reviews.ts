// Reviews of many runs at once, and back.
import { patch, type Schemas } from "./api";
import { read } from "./data";

type Review = Schemas["Review"];
type Change = Schemas["ReviewChange"];

/** flags are what reviews say of a run's output. */
export const flags = {
  noErrors: "No errors",
  missingOutput: "Output is missing",
  extraneousOutput: "There is output that was not asked for",
  invalidOutput: "Output is not valid",
  hasErrorOutput: "The program reported errors",
  otherErrors: "Other errors",
};

const atOnce = 8;
const request = 100; // runs that one request reviews at most

/** reviewsOf reads the reviews of runs. */
async function reviewsOf(runIds: string[]): Promise<Review[]> {
  const all: Review[] = [];
  for (let at = 0; at < runIds.length; at += atOnce) {
    all.push(
      ...(await Promise.all(
        runIds.slice(at, at + atOnce).map(runId => read("/v1/runs/{runId}/review", { path: { runId } })),
      )),
    );
  }
  return all;
}

/** review changes the reviews of runs of a dataset, and returns what became of each. */
async function review(datasetId: string, runIds: string[], change: Change): Promise<Schemas["ReviewedRun"][]> {
  const all: Schemas["ReviewedRun"][] = [];
  for (let at = 0; at < runIds.length; at += request) {
    all.push(
      ...(
        await patch(
          "/v1/datasets/{datasetId}/reviews",
          { datasetId },
          { runIds: runIds.slice(at, at + request), review: change },
        )
      ).data,
    );
  }
  return all;
}

/** conclude changes the reviews of runs of any datasets, and returns those that failed, and how to take the others back. */
export async function conclude(
  runs: { runId: string; datasetId: string }[],
  change: Change,
  waited?: boolean,
): Promise<{ failed: Schemas["ReviewedRun"][]; undo: () => Promise<void> }> {
  const failed: Schemas["ReviewedRun"][] = [],
    undos: (() => Promise<void>)[] = [];
  for (const [datasetId, group] of Map.groupBy(runs, r => r.datasetId)) {
    const before = await reviewsOf(group.map(r => r.runId));
    failed.push(
      ...(
        await review(
          datasetId,
          group.map(r => r.runId),
          change,
        )
      ).filter(a => a.problem),
    );
    undos.push(() =>
      takeBack(
        datasetId,
        before.filter(b => !failed.some(f => f.runId === b.runId)),
        waited,
      ),
    );
  }
  return {
    failed,
    undo: async () => {
      for (const undo of undos) await undo();
    },
  };
}

/** takeBack gives reviews what they said of who sees the run. Those that waited do so again. */
async function takeBack(datasetId: string, before: Review[], waited?: boolean): Promise<void> {
  const said = ({ published, blinded, reviewedAt }: Review): string =>
    JSON.stringify({ published, blinded, waits: waited ?? !reviewedAt });
  for (const [change, reviews] of Map.groupBy(before, said)) {
    const failed = (
      await review(
        datasetId,
        reviews.map(r => r.runId),
        JSON.parse(change) as Change,
      )
    ).find(a => a.problem);
    if (failed) throw new Error(failed.problem!.detail);
  }
}

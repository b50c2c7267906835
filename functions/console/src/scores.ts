// The evaluations of many runs.
import useSWR from "swr";
import type { Schemas } from "./api";
import { type Loading, loading, read } from "./data";
import type { Problem } from "./problem";
import { chunks } from "./review_changes";

const most = 50; // largest number of runs whose evaluations one request reads

/** evaluationsOf reads the evaluations of runs that lists show. */
export async function evaluationsOf(runIds: string[]): Promise<Schemas["Evaluation"][]> {
  const pages = chunks(runIds, most).map(some =>
    read("/v1/evaluations", { query: { "filter[runId]": some, limit: 100 } }),
  );
  return (await Promise.all(pages)).flatMap(p => p?.data ?? []);
}

/** useScores reads the evaluations of runs. */
export const useScores = (runIds: string[]): Loading<Schemas["Evaluation"][]> =>
  loading(
    useSWR<Schemas["Evaluation"][], Problem>(runIds.length > 0 && ["scores", runIds], () => evaluationsOf(runIds), {
      keepPreviousData: true,
    }),
  );

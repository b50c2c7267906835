// The runs for a comparison: the best runs of the dataset, baselines, and the reader's own runs.
import type { Schemas } from "../api";
import { markOf } from "../board_reason";
import { scoreOf, type WithColumns } from "../columns";
import { useGet } from "../data";
import { useMe } from "../roles";
import { Select } from "./choices";
import { nameOf, teamOf } from "./run_state";

type Evaluation = Schemas["Evaluation"];

/** useRivals returns the evaluations on a dataset for a comparison, or without a dataset those of the reader's runs. */
export function useRivals(datasetId: string | undefined): Evaluation[] {
  const me = useMe();
  const on = datasetId ? { "filter[datasetId]": [datasetId] } : {};
  const board =
    useGet(datasetId ? "/v1/evaluations" : null, { query: { ...on, sort: "rank", limit: 50 } }).data?.data ?? [];
  const mine =
    useGet(me ? "/v1/evaluations" : null, { query: { ...on, "filter[userId]": [me?.id ?? ""], limit: 50 } }).data
      ?.data ?? [];
  return [...board, ...mine.filter(m => !board.some(b => b.id === m.id))];
}

/** placeOf returns the rank of a run, or why others do not see the run. */
function placeOf(e: Evaluation): string {
  if (e.hidden) return `(${markOf(e)}) `;
  return e.rank ? `${e.rank}. ` : "";
}

type Choosing = {
  id: string;
  label: string;
  of: Evaluation[];
  dataset: WithColumns | undefined;
  choose: (runId: string) => void;
};

export const RunSelect = ({ id, label, of, dataset, choose }: Choosing) => (
  <Select
    id={id}
    label={label}
    value=""
    choose={choose}
    options={{
      "": "Choose a run …",
      ...Object.fromEntries(of.map(e => [e.runId, `${placeOf(e)}${teamOf(e)}: ${nameOf(e)}, ${scoreOf(e, dataset)}`])),
    }}
  />
);

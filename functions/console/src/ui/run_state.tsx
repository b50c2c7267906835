// The state, the name and the score of a run in words.
import type { Schemas } from "../api";
import { isBaseline } from "../run_rules";
import { teamName } from "../team_name";
import { Tag } from "./show";

type Run = Schemas["Run"];
type State = Run["state"];

const words: Record<State, [said: string, kind?: "good" | "bad" | "warm"]> = {
  "awaiting-upload": ["waits for its file", "warm"],
  queued: ["queued"],
  running: ["running"],
  evaluating: ["evaluating"],
  completed: ["completed", "good"],
  failed: ["failed", "bad"],
  cancelled: ["cancelled"],
};

/** ranks reports whether the runs of an evaluator kind are rankings of documents. */
export const ranks = (kind?: string): boolean => kind === "retrieval" || kind === "diversity";

export const StateTag = ({ of }: { of: State }) => <Tag kind={words[of][1]}>{words[of][0]}</Tag>;

/** ended reports whether the run is completed, failed or cancelled. */
export const ended = (r: Run): boolean => ["completed", "failed", "cancelled"].includes(r.state);

/** nameOf returns the name of a run for people. */
export const nameOf = (r: { title?: string; label?: string; runTag?: string; id?: string; runId?: string }): string =>
  r.title || r.label || r.runTag || `Run ${(r.runId ?? r.id)?.slice(-6) ?? ""}`;

/** deletedName returns the name of a deleted resource. A run without a title has the name that the other screens give it. */
export const deletedName = (d: Schemas["Deletion"]): string =>
  d.kind === "run" ? nameOf({ title: d.name, id: d.resourceId }) : d.name || `A ${d.kind} without a title`;

/** teamOf returns the team of a run, and marks a baseline that a team submitted. */
export const teamOf = (e: { team: string; alias?: string; baseline: boolean }): string =>
  e.baseline && !isBaseline(e) ? `${teamName(e)} (baseline)` : teamName(e);

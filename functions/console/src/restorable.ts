// Whether the reader can restore what the reader's team deletes.
import { useGet } from "./data";
import { organizes, useMe, useOwnTeam } from "./roles";
import { unrestorable } from "./run_rules";
import { asksForTerms } from "./terms";

/**
 * useUnrestorable returns why the reader cannot restore runs and submissions of the task. It is empty if the reader can,
 * and undefined while that is unknown. Organizers can restore everything, and only they restore baselines without a team.
 */
export function useUnrestorable(taskId: string, baseline: boolean): string | undefined {
  const me = useMe();
  const task = useGet("/v1/tasks/{taskId}", { path: { taskId } }).data;
  const { mine, team } = useOwnTeam(taskId);
  if (!me || !task || (mine && !team)) return undefined;
  if (organizes(me, task.organizerId)) return "";
  if (baseline) return "This is a baseline, so only the organizers of the task can restore it.";
  return team ? unrestorable(team.state, asksForTerms({ task, of: team })) : "";
}

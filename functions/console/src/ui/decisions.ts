// What organizers or other members decide about the reader's team while a screen of the task is open.
import { useEffect } from "preact/hooks";
import type { Schemas } from "../api";
import { useGet } from "../data";
import { gone } from "../problem";
import { refresh, settle } from "../refresh";
import type { Me } from "../roles";

/**
 * useDecisions reads the reader's team. Once the state of the team is another one, or the reader is no longer in it, it
 * reads the whole screen again. Refusals that decisions may have outdated disappear.
 */
export function useDecisions(mine: Me["registrations"][number] | undefined): Schemas["Registration"] | undefined {
  const { taskId = "", registrationId = "" } = mine ?? {};
  const { data, error } = useGet(mine ? "/v1/tasks/{taskId}/registrations/{registrationId}" : null, {
    path: { taskId, registrationId },
  });
  const left = gone(error);
  useEffect(() => {
    if (mine && (left || (data && data.state !== mine.state))) void refresh();
  }, [data?.state, left]);
  useEffect(settle, [data?.state, data?.acceptedTerms, JSON.stringify(data?.exceptions)]);
  return data;
}

// The audit entries of a task or an organizer: who changed what, when, and the former values.
import type { Schemas } from "../api";
import { useList } from "../data";
import type { Screen } from "../route";
import { downloadList } from "../ui/download";
import { Action, Heading, Listed } from "../ui/show";
import { When } from "../ui/time";

type Entry = Schemas["AuditEntry"];

export default function Audit({ params }: Screen) {
  const { taskId, organizerId } = params;
  const path = taskId ? "/v1/tasks/{taskId}/audit-entries" : "/v1/organizers/{organizerId}/audit-entries";
  const ids = taskId ? { taskId } : { organizerId: organizerId! };
  const all = useList(path as "/v1/tasks/{taskId}/audit-entries", { path: ids as { taskId: string } });
  const address = taskId ? `/v1/tasks/${taskId}` : `/v1/organizers/${organizerId}`;
  return (
    <>
      <p class="small">
        <a href={taskId ? `#/tasks/${taskId}/desk` : `#/organizers/${organizerId}`}>Back</a>
      </p>
      <Heading title="Audit trail">Audit trail</Heading>
      <Listed of={all} empty={<p>Nothing was done yet.</p>}>
        {e => <Line of={e} />}
      </Listed>
      {all.items && all.items.length > 0 && (
        <p>
          <Action plain run={() => downloadList(`${address}/audit-entries?limit=100`, "audit.csv")}>
            Download as CSV
          </Action>
        </p>
      )}
    </>
  );
}

/** screenOf returns the address of the screen of a subject, if it has one. */
function screenOf(subject: string): string | undefined {
  const [, path, dataset] =
    /^.v1.((?:tasks.\w+.registrations|tasks|organizers|runs|(datasets)).\w+)/.exec(subject) ?? [];
  if (!path) return undefined;
  return dataset ? `${path}/edit` : path;
}

const Line = ({ of: e, at = screenOf(e.subject) }: { of: Entry; at?: string }) => (
  <div>
    <strong>{e.action.replace(".", ": ").replaceAll("-", " ")}</strong> by{" "}
    <bdi>{e.actor?.name || e.actor?.email || e.actorId}</bdi>, <When at={e.createdAt} />{" "}
    {at && (
      <a class="small" href={`#/${at}`} aria-label={`Look at ${at.replace(/\/edit$/, "")}`}>
        Look
      </a>
    )}
    {(e.before !== undefined || e.after !== undefined) && (
      <details>
        <summary>What changed</summary>
        <div class="sides">
          {(["before", "after"] as const).map(
            side =>
              e[side] !== undefined &&
              e[side] !== null && (
                <div key={side}>
                  <h2>{side === "before" ? "Before" : "After"}</h2>
                  <pre tabIndex={0} role="group" aria-label={side}>
                    {JSON.stringify(e[side], null, 1)}
                  </pre>
                </div>
              ),
          )}
        </div>
      </details>
    )}
  </div>
);

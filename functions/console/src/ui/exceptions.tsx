// The exceptions that the organizers granted a team.
import type { Schemas } from "../api";
import { useList } from "../data";
import { grantsOf } from "../exception_words";
import { authorsOf } from "../teams";
import { nameOf } from "./run_state";
import { Deadline } from "./time";

type Registration = Schemas["Registration"];
type Granting = {
  of: Schemas["Exception"];
  task: Schemas["Task"];
  datasets: Schemas["Dataset"][];
  runs: Schemas["Run"][];
};

/** grants returns what an exception gives now, by the names of its dataset and its run. */
const grants = ({ of: e, task, datasets, runs }: Granting) => {
  const run = runs.find(r => r.id === e.runId);
  return grantsOf(e, task, datasets, run && nameOf(run));
};

/** Granted shows what an exception gives a team now. If it gives nothing, Granted shows why. */
export function Granted(of: Granting) {
  const all = grants(of);
  if (all.length === 0)
    return of.of.closesAt ? (
      <>a close that is no later than the close of the other teams now</>
    ) : (
      <>more runs than a limit allowed that does not exist any more</>
    );
  return (
    <>
      {all.map(({ said, at }, i) => (
        <span key={said}>
          {i > 0 && "; "}
          <bdi>{said}</bdi>
          {at && (
            <>
              {" "}
              <Deadline at={at} />
            </>
          )}
        </span>
      ))}
    </>
  );
}

/** Exceptions shows a team what the organizers granted it, and why. */
export const Exceptions = ({ task, of: r }: { task: Schemas["Task"]; of: Registration }) =>
  r.exceptions?.length ? <Some task={task} of={r} all={r.exceptions} /> : null;

function Some({ task, of: r, all }: { task: Schemas["Task"]; of: Registration; all: Schemas["Exception"][] }) {
  const datasets = useList("/v1/datasets", { query: { "filter[taskId]": [task.id] } }).items;
  const query = { "filter[taskId]": [task.id], "filter[userId]": authorsOf(r), limit: 100 };
  const runs = useList(all.some(e => e.runId) ? "/v1/runs" : null, { query }).items ?? [];
  if (!datasets) return null;
  return (
    <>
      {all
        .map(of => ({ of, task, datasets, runs }))
        .filter(e => grants(e).length > 0)
        .map(e => (
          <p class="notice" key={e.of.id}>
            The organizers granted your team <Granted {...e} />. Their reason: <bdi>{e.of.reason}</bdi>
          </p>
        ))}
    </>
  );
}

// Deleting users, tasks and datasets. The deletion of a user cannot be undone. To delete a task with the submissions of
// others, the reader must type its name.
import { useState } from "preact/hooks";
import { remove, restore, type Schemas } from "../api";
import { done, useList } from "../data";
import { toProblem } from "../problem";
import { go } from "../route";
import { Text } from "./fields";
import { Form } from "./form";
import { Action } from "./show";

/** DeleteAccount deletes a user after the reader has typed a word that nobody types by mistake. */
export const DeleteAccount = ({ title, about, run }: { title: string; about: string; run: () => Promise<unknown> }) => (
  <details>
    <summary>{title}</summary>
    <p>{about} This cannot be undone.</p>
    <Form
      name=""
      initial={{}}
      button={title}
      submit={async v => {
        if (String(v.word).trim().toUpperCase() !== "DELETE")
          throw new Error("Nothing was deleted: type the word DELETE to go on.");
        await run();
      }}
    >
      {f => <Text f={f} name="word" label="Type DELETE to go on" required />}
    </Form>
  </details>
);

/** DeleteDataset deletes a dataset, unless runs use it. */
export function DeleteDataset({ of: d }: { of: Schemas["Dataset"] }) {
  const runs = useList("/v1/runs", { query: { "filter[datasetId]": [d.id], limit: 1 } }).items;
  if (!runs) return null;
  if (runs.length > 0)
    return (
      <p class="small quiet">
        Runs use the dataset, so it cannot be deleted. Delete its{" "}
        <a href={`#/tasks/${d.taskId}/desk?dataset=${d.id}`}>runs</a> first.
      </p>
    );
  return <Delete kind="dataset" id={d.id} taskId={d.taskId} name={d.name} then={`/tasks/${d.taskId}/edit`} />;
}

type Props = {
  kind: "task" | "dataset";
  id: string;
  taskId: string;
  name: string;
  then: string;
  /** submitted reports whether a task has submissions, as far as the screen knows. */
  submitted?: boolean;
};

export function Delete({ kind, id, taskId, name, then, submitted = false }: Props) {
  const [refused, setRefused] = useState(false); // Somebody has submitted meanwhile.
  const act = async (query?: Record<string, string>): Promise<void> => {
    const removed =
      kind === "task"
        ? remove("/v1/tasks/{taskId}", { taskId }, query)
        : remove("/v1/datasets/{datasetId}", { datasetId: id });
    await done(
      removed.then(() => go(then)),
      `${name} was deleted.`,
      () => restore(kind, id, kind === "task" ? undefined : taskId),
    );
  };
  const first = (): Promise<void> =>
    act().catch((error: unknown) => {
      const p = toProblem(error);
      if (kind === "dataset" || p.document.status !== 409) throw p;
      setRefused(true);
    });
  return (
    <details>
      <summary>Delete the {kind}</summary>
      <p>For 30 days it can be restored{kind === "task" && ", unless its organizer is deleted"}.</p>
      {submitted || refused ? (
        <Form
          name={`delete ${id}`}
          initial={{}}
          button="Delete it with all submissions"
          submit={v => act({ with: "submissions", name: String(v.name ?? "") })}
        >
          {f => (
            <Text
              f={f}
              name="name"
              label={`Current name of the ${kind}`}
              required
              hint={
                <>
                  Everything that was submitted to it is deleted with it. To go on, enter <bdi>{name}</bdi>
                </>
              }
            />
          )}
        </Form>
      ) : (
        <Action plain run={first}>
          Delete the {kind}
        </Action>
      )}
    </details>
  );
}

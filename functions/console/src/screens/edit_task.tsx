// The editor of a task: the steps until it can be published, its rules in sections, and publishing as the last step.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { effects, patch, type Schemas } from "../api";
import { columnName } from "../columns";
import { done, type Listing, useGet, useList, useNewest } from "../data";
import { organizes } from "../roles";
import type { Screen } from "../route";
import { useSession } from "../session";
import { truthState } from "../stage";
import { baselineAt, headingOf, type Step, stepsOf, truthWords } from "../task_steps";
import { Delete } from "../ui/delete";
import { Effects, Form } from "../ui/form";
import { Action, Busy, Failure, Items, Listed, Tag } from "../ui/show";
import { SignIn } from "../ui/sign_in_form";
import { type OfTask, TaskFrame } from "../ui/task_nav";
import { mergePatch, type Values } from "../ui/values";
import { Rows, whileRunning } from "./runs";
import { type Part, parts } from "./task_parts";

type Task = Schemas["Task"];
type Dataset = Schemas["Dataset"];
const path = "/v1/tasks/{taskId}";

export default ({ params }: Screen) => (
  <TaskFrame taskId={params.taskId!} title="Edit" at="/edit">
    {of => (
      <ForOrganizers {...of}>
        <Editor {...of} />
      </ForOrganizers>
    )}
  </TaskFrame>
);

/** ForOrganizers shows its children only to organizers of the task. */
export function ForOrganizers({ task, me, children }: OfTask & { children: ComponentChildren }) {
  const { signedIn } = useSession();
  if (!me) return signedIn ? <Busy /> : <SignIn />;
  return organizes(me, task.organizerId) ? children : <p class="empty">Only the organizers of the task can edit it.</p>;
}

function Editor({ task }: OfTask) {
  const datasets = useList(
    "/v1/datasets",
    { query: { "filter[taskId]": [task.id] } },
    {
      refreshInterval: (pages?: { data: Dataset[] }[]) =>
        pages?.some(p => p?.data.some(d => truthState(d) === "waits")) ? 2000 : 0,
    },
  );
  const submissions = useList("/v1/tasks/{taskId}/submissions", { path: { taskId: task.id }, query: { limit: 200 } });
  const baselines = submissions.items?.filter(s => s.baseline).slice(0, 50) ?? [];
  const runs = useList(
    baselines.length > 0 ? "/v1/runs" : null,
    { query: { "filter[submissionId]": baselines.map(s => s.id) } },
    { refreshInterval: whileRunning },
  );
  const evaluated = submissions.items && (baselines.length > 0 ? runs.items : []);
  const steps = datasets.items && evaluated && stepsOf(task, datasets.items, evaluated);
  return (
    <>
      {steps && <Left task={task} steps={steps} />}
      {!steps && !(datasets.error || submissions.error || runs.error) && <Busy />}
      {!submissions.items && submissions.error && <Failure of={submissions.error} retry={submissions.reload} />}
      <Datasets task={task} of={datasets} />
      <section aria-labelledby="baseline">
        <h3 id="baseline">Baseline</h3>
        <p>
          A run of your own shows that files, ground truth and measures fit together, and gives participants something
          to beat. It takes no registration and no quota.
        </p>
        {baselines.length > 0 && (
          <Items of={runs} empty={<p>The baseline has no run yet.</p>}>
            {items => <Rows of={items} oneTask />}
          </Items>
        )}
        <p class="actions">
          {datasets.items && (
            <a class="button" href={baselineAt(task, datasets.items)}>
              {datasets.items.length > 0 ? "Submit a baseline" : "Add its dataset first"}
            </a>
          )}
        </p>
      </section>
      {parts.map(p => (
        <Section key={p.name} task={task} part={p} />
      ))}
      {steps && (
        <Publish task={task} lacks={steps.filter(s => !s.done && !s.optional && s.at !== "publish").map(s => s.name)} />
      )}
      {submissions.items && (
        <Delete
          kind="task"
          id={task.id}
          taskId={task.id}
          name={task.name}
          then="/desk"
          submitted={submissions.items.length > 0}
        />
      )}
    </>
  );
}

function StepTag({ of: s }: { of: Step }) {
  if (s.done) return <Tag kind="good">done</Tag>;
  return s.optional ? <Tag>optional</Tag> : <Tag kind="warm">to do</Tag>;
}

function Left({ task, steps }: { task: Task; steps: Step[] }) {
  return (
    <section aria-labelledby="left">
      <h3 id="left">{headingOf(task, steps)}</h3>
      <ol class="rows">
        {steps.map(s => (
          <li key={s.name}>
            <span>
              <a
                href={s.at.startsWith("#") ? s.at : `#/tasks/${task.id}/edit`}
                onClick={event => {
                  if (s.at.startsWith("#")) return;
                  event.preventDefault();
                  document.getElementById(s.at)?.focus();
                }}
              >
                {s.name}
              </a>
              {!s.done && <span class="small quiet"> {s.note}</span>}
            </span>
            <StepTag of={s} />
          </li>
        ))}
      </ol>
    </section>
  );
}

const Datasets = ({ task, of }: { task: Task; of: Listing<Dataset> }) => (
  <section aria-labelledby="datasets">
    <h3 id="datasets">Datasets</h3>
    <Listed
      of={of}
      empty={<p>Runs are made on a dataset: files for participants, and a ground truth that only you see.</p>}
    >
      {d => (
        <>
          <span>
            <a href={`#/datasets/${d.id}/edit`}>
              <bdi>{d.name}</bdi>
            </a>{" "}
            <Tag>{d.split}</Tag>{" "}
            <span class="small quiet">
              <bdi>{d.columns?.map(columnName).join(", ")}</bdi>
            </span>
          </span>
          <Tag kind={truthWords[truthState(d)][1]}>{truthWords[truthState(d)][0]}</Tag>
        </>
      )}
    </Listed>
    <p class="actions">
      <a class="button" href={`#/tasks/${task.id}/datasets/new`}>
        Add a dataset
      </a>
    </p>
  </section>
);

/** useTask returns functions that change the task and read it again, so that all sections have its newest version. */
function useTask(task: Task) {
  const ids = { taskId: task.id };
  const one = useGet(path, { path: ids });
  const { newest, latest } = useNewest(one.data ?? task, () => one.mutate());
  return {
    latest,
    preview: (body: Values) => effects("PATCH", path, ids, body),
    save: (body: Values, said: string): Promise<void> => done(patch(path, ids, body, newest.current), said),
  };
}

function Section({ task, part }: { task: Task; part: Part }) {
  const { latest, preview, save } = useTask(task);
  // An empty text becomes null in a merge patch, and the text of terms is never null.
  const change = (v: Values, base: Values): Values => (part.name === "terms" ? v : mergePatch(base, v));
  return (
    <section aria-labelledby={part.name}>
      <h3 id={part.name} tabIndex={-1}>
        {part.title}
      </h3>
      {part.about && (
        <p>
          {part.about}
          {part.name === "terms" && task.terms && ` Now: version ${task.terms.version}.`}
        </p>
      )}
      <Form
        name={`${part.name} ${task.id}`}
        initial={part.of(task)}
        button={`Save: ${part.title}`}
        latest={async () => part.of(await latest())}
        preview={(v, base) => preview(change(v, base))}
        submit={(v, base) => save(change(v, base), "Saved.")}
      >
        {part.fields}
      </Form>
    </section>
  );
}

/** Publish shows the effects of publishing, and the missing steps, before the task is published. */
function Publish({ task, lacks }: { task: Task; lacks: string[] }) {
  const { preview, save } = useTask(task);
  const [coming, setComing] = useState<Schemas["Effect"][]>();
  const hidden = task.visibility === "private";
  const body = { visibility: hidden ? "public" : "private" };
  const button = hidden ? "Publish the task" : "Make it private";
  const unsaved = parts
    .filter(p => sessionStorage.getItem(`draft ${p.name} ${task.id}`))
    .map(p => `Save the changes under ${p.title}`);
  const missing = [...(hidden ? lacks : []), ...unsaved];
  const act = (): Promise<void> =>
    save(body, hidden ? "The task is published." : "The task is private.").then(() => setComing(undefined));
  return (
    <section aria-labelledby="publish">
      <h3 id="publish" tabIndex={-1}>
        Visibility
      </h3>
      <p>
        {hidden
          ? "The task is private: its organizers see it, and teams that they accepted. Once published, everyone sees it."
          : "The task is public: everyone sees it. Made private, only its organizers and the teams that they accepted do."}
      </p>
      {!coming ? (
        <p class="actions">
          <Action run={async () => setComing(await preview(body))}>{button}</Action>
        </p>
      ) : (
        <>
          {missing.length > 0 && <p class="notice">Not done yet: {missing.join("; ")}.</p>}
          <Effects of={coming} />
          <p class="actions">
            <Action run={act}>{`${button}, with these effects`}</Action>
            <button type="button" class="plain" onClick={() => setComing(undefined)}>
              Cancel
            </button>
          </p>
        </>
      )}
    </section>
  );
}

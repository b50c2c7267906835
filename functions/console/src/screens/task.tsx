// A task, for its participants: description, dates, datasets, and how to take part.
import type { Schemas } from "../api";
import { ruleSentence } from "../column_notes";
import { isWaiting } from "../column_rules";
import { rankingKey } from "../columns";
import { useGet, useList } from "../data";
import { count } from "../plural";
import { isOver, limitsOf, nextRun, onlyTerms } from "../quota_words";
import { registrationOf } from "../registration_words";
import { organizes, registrationIn, useOwnTeam } from "../roles";
import type { Screen } from "../route";
import { sampleOf } from "../run_formats";
import { finalsNote } from "../run_rules";
import { closedForTeams, formsOf, registers, stageOf, typesOf, typesOfAny, windowOf } from "../stage";
import { useStages } from "../task_stages";
import { inputsNote } from "../terms";
import { Announcement } from "../ui/announcement";
import { ChangedTerms } from "../ui/changed_terms";
import { ColumnName } from "../ui/column_name";
import { DateOf } from "../ui/dates";
import { Exceptions } from "../ui/exceptions";
import { Files } from "../ui/files";
import { Markdown } from "../ui/lazy";
import { familyOf } from "../ui/measures";
import { Quotas } from "../ui/quota";
import { Code, Items, Members, Tag } from "../ui/show";
import { type OfTask, Organizer, TaskFrame } from "../ui/task_nav";
import { Deadline, Sentence, When } from "../ui/time";

export default function TaskScreen({ params }: Screen) {
  return (
    <TaskFrame taskId={params.taskId!} title="" at="">
      {of => <Overview {...of} />}
    </TaskFrame>
  );
}

function Overview({ task, me }: OfTask) {
  const mine = registrationIn(me, task.id);
  const s = task.submissions;
  const staged = useStages([task])?.(task);
  const datasets = useList("/v1/datasets", { query: { "filter[taskId]": [task.id] } }).items;
  const past = staged?.stage === "past";
  return (
    <>
      <Organizer id={task.organizerId} />
      <Next task={task} me={me} past={past} />
      {task.description && <Markdown source={task.description} />}
      {task.website && (
        <p>
          <a href={task.website} rel="nofollow noopener">
            Website of the task
          </a>
        </p>
      )}
      <dl class="members">
        <dt>Registration</dt>
        <dd>
          <Sentence of={registrationOf(task.registration)} />
        </dd>
        <dt>Submissions</dt>
        <dd>
          {staged?.dates.map(d => (
            <div key={d.name}>
              <DateOf of={d} stage={staged.stage} />
            </div>
          ))}
        </dd>
        <dt>{past ? "Teams could submit" : "Teams may submit"}</dt>
        <dd>
          {datasets?.length === 0 && "nothing yet"}
          {datasets && datasets.length > 0 && [formsOf(typesOfAny(task, datasets)), ...limits(s)].join("; ")}
        </dd>
      </dl>
      {mine?.state === "accepted" && <OfTeam task={task} registrationId={mine.registrationId} />}
      <Announcements taskId={task.id} />
      <h2>Datasets</h2>
      <Datasets task={task} organizer={organizes(me, task.organizerId)} />
      {task.terms && (
        <details>
          <summary>Terms, version {task.terms.version}</summary>
          <Markdown source={task.terms.text} />
        </details>
      )}
    </>
  );
}

const limits = ({ perDay, total }: Schemas["SubmissionRules"] = {}): string[] => [
  ...(perDay ? [`${count(perDay, "run")} in 24 hours`] : []),
  ...(total ? [`${count(total, "run")} in all`] : []),
];

/** Next shows the next step of the reader in the task. */
function Next({ task, me, past }: OfTask & { past: boolean }) {
  const mine = registrationIn(me, task.id);
  if (mine?.state === "accepted") return <NextRun task={task} registrationId={mine.registrationId} />;
  if (mine)
    return (
      <p class="notice">
        {mine.state === "pending"
          ? "The organizers decide about your registration."
          : "The organizers rejected your team: it does not take part."}{" "}
        <a href={`#/tasks/${task.id}/team`}>See it</a>
      </p>
    );
  if (organizes(me, task.organizerId))
    return task.visibility === "private" ? (
      <p class="notice">
        Only the organizers and the teams that they accept see this task.{" "}
        <a href={`#/tasks/${task.id}/edit`}>Prepare and publish it</a>
      </p>
    ) : null;
  return registers(task) ? (
    <>
      {past && <p class="notice">{closedForTeams}</p>}
      <p class="actions">
        <a class="button" href={`#/tasks/${task.id}/join`}>
          Take part
        </a>
      </p>
    </>
  ) : null;
}

/** useTeam reads the registration of the reader's team. */
const useTeam = ({ task, registrationId }: Team): Schemas["Registration"] | undefined =>
  useGet("/v1/tasks/{taskId}/registrations/{registrationId}", { path: { taskId: task.id, registrationId } }).data;

type Team = { task: Schemas["Task"]; registrationId: string };

/** NextRun leads to submitting. If no dataset takes a run of the team now, it says when one does, and leads to the runs. */
function NextRun(of: Team) {
  const quota = useTeam(of)?.quota;
  if (!quota) return null;
  const { possible, at } = nextRun(quota);
  const next = onlyTerms(quota) ? "Accept the terms" : "Submit";
  const [page, name] = possible ? ["submit", next] : ["runs", "My runs"];
  return (
    <>
      {!possible && (
        <p class="notice">
          {at ? (
            <>
              Your team can submit the next run <When at={at} />.
            </>
          ) : (
            "Your team can submit no run now."
          )}
        </p>
      )}
      <p class="actions">
        <a class="button" href={`#/tasks/${of.task.id}/${page}`}>
          {name}
        </a>
      </p>
    </>
  );
}

function OfTeam(of: Team) {
  const { task } = of;
  const data = useTeam(of);
  if (!data) return null;
  return (
    <>
      {data.quota && <Quotas taskId={task.id} of={data.quota} state={data.state} />}
      <ChangedTerms task={task} of={data} />
      <Exceptions task={task} of={data} />
    </>
  );
}

function Announcements({ taskId }: { taskId: string }) {
  const all = useList("/v1/tasks/{taskId}/announcements", { path: { taskId }, query: { limit: 5 } });
  if (!all.items?.length) return null;
  return (
    <>
      <h2>Announcements</h2>
      {all.items.map(a => (
        <article key={a.id}>
          <Announcement of={a} />
        </article>
      ))}
      {all.more && (
        <button type="button" class="plain" onClick={all.more}>
          Earlier announcements
        </button>
      )}
    </>
  );
}

function Datasets({ task, organizer }: { task: Schemas["Task"]; organizer: boolean }) {
  const all = useList("/v1/datasets", { query: { "filter[taskId]": [task.id] } });
  return (
    <Items
      of={all}
      empty={
        <p>
          {organizer ? (
            <a href={`#/tasks/${task.id}/datasets/new`}>Add the first dataset</a>
          ) : (
            "The task has no dataset."
          )}
        </p>
      }
    >
      {items => (
        <>
          {items.map(d => (
            <Dataset key={d.id} of={d} task={task} organizer={organizer} />
          ))}
        </>
      )}
    </Items>
  );
}

type OfDataset = { of: Schemas["Dataset"]; task: Schemas["Task"]; organizer: boolean };

/** useOver reports whether the reader's team can submit no more to the dataset. Without a team, it reports whether the dataset has closed. */
function useOver({ of: d, task }: Omit<OfDataset, "organizer">): boolean {
  const { team } = useOwnTeam(task.id);
  const q = team?.quota?.datasets?.find(q => q.datasetId === d.id);
  return q ? team?.state === "rejected" || isOver(q) : stageOf(windowOf(d, task)) === "past";
}

function Dataset({ of: d, task, organizer }: OfDataset) {
  const past = stageOf(windowOf(d, task)) === "past";
  const over = useOver({ of: d, task });
  // Only the answer of a single dataset has links to inputs.
  const { data: alone } = useGet("/v1/datasets/{datasetId}", { path: { datasetId: d.id } });
  const { mine, team } = useOwnTeam(task.id);
  const note = mine && !team ? "" : inputsNote(d, task, { organizer, team });
  return (
    <article class="card">
      <h3>
        <bdi>{d.name}</bdi> <Tag>{d.split}</Tag>{" "}
        {organizer && (
          <a class="small" href={`#/datasets/${d.id}/edit`}>
            Edit
          </a>
        )}
      </h3>
      {d.description && <Markdown source={d.description} top={4} />}
      {(d.submissions?.opensAt || d.submissions?.closesAt) && (
        <p class="small">
          {past ? "Took" : "Takes"} runs{" "}
          {d.submissions.opensAt && (
            <>
              from <Deadline at={d.submissions.opensAt} />{" "}
            </>
          )}
          {d.submissions.closesAt && (
            <>
              until <Deadline at={d.submissions.closesAt} />
            </>
          )}
        </p>
      )}
      <p class="small">
        {past ? "Took" : "Takes"} {formsOf(typesOf(task, d))}.
      </p>
      {limitsOf(d.submissions ?? {}) && (
        <p class="small">
          A team {past ? "could" : "may"} submit {limitsOf(d.submissions ?? {})} on this dataset.
        </p>
      )}
      {Boolean(d.finalRuns) && (
        <p class="small">
          Of each team, {count(d.finalRuns!, "final run")} {d.finalRuns === 1 ? "counts" : "count"}:{" "}
          {past
            ? "those that it marked or, if none of these has a result, its last ones."
            : "mark yours under My runs, or the last ones do."}{" "}
          {finalsNote}
        </p>
      )}
      <h4>Input</h4>
      <Given of={(alone ?? d).inputs} note={note} />
      {d.truthsPublic && (
        <>
          <h4>Ground truth</h4>
          <Given of={(alone ?? d).truths} note={note} />
        </>
      )}
      <h4>A run looks like this</h4>
      <Code label={`Sample line of a run on ${d.name}`}>{sampleOf(d)}</Code>
      <h4>It is measured by</h4>
      <Measures of={d} organizer={organizer} />
      {typesOf(task, d).includes("upload") && !over && (
        <details>
          <summary>Submit from a terminal</summary>
          <Code label={`Commands to submit to ${d.name}`}>{commands(d)}</Code>
          <p class="small">
            Make an access token under <a href="#/me">your name</a>.
          </p>
        </details>
      )}
    </article>
  );
}

/** Given lists files for participants. note says when a reader who gets none will get them. */
const Given = ({ of, note }: { of: Schemas["File"][] | undefined; note: string }) =>
  of?.length ? <Files of={of} /> : <p class="small quiet">{note || "No files."}</p>;

const commands = (d: Schemas["Dataset"]): string => `export ASSAY_URL=${location.origin} ASSAY_TOKEN=<your access token>
printf '{"type":"upload","files":[{"datasetId":"${d.id}","name":"run.txt","content":"%s"}]}' "$(base64 < run.txt | tr -d '\\n')" |
  curl -sS -H "Authorization: Bearer $ASSAY_TOKEN" --json @- $ASSAY_URL/v1/tasks/${d.taskId}/submissions`;

/**
 * Measures explains the measures of a dataset with the catalogue of the server, in the order of its columns, and says who sees them if
 * not everyone does at once.
 */
function Measures({ of: d, organizer }: Omit<OfDataset, "task">) {
  const columns = d.columns ?? [];
  const ranks = rankingKey(columns, organizer);
  const { data } = useGet("/info", {});
  return (
    <Members
      of={columns.map(c => {
        const family = familyOf(data?.measures[d.evaluator.kind] ?? [], c.key);
        return [
          <>
            <ColumnName of={c} />
            {c.key === ranks && (organizer || !isWaiting(c)) && <span class="small"> (ranks)</span>}
          </>,
          <span class="small">
            {family?.definition ?? "Measured by the organizers' evaluator."}
            {c.lowerIsBetter && " Lower is better."}
            {ruleSentence(c)}
          </span>,
        ];
      })}
    />
  );
}

// The leaderboard of a dataset from the tool leaderboard, with confidence intervals and letters of runs that
// differ significantly. The choices of the reader are in the address, so that a link has them.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Schemas } from "../api";
import { lackedChoices, withoutChoices } from "../board_choices";
import { changesNote, markOf, versionName } from "../board_reason";
import { instantOf, isForEveryone, type Reader, readerOf } from "../column_rules";
import { type Column, cellOf, columnName, columnOf, headingOf, resultOf } from "../columns";
import { useList, useTool } from "../data";
import { windowsOf } from "../instants";
import { inWords } from "../member_names";
import { count } from "../plural";
import { refresh } from "../refresh";
import { organizes, registrationIn } from "../roles";
import { type Screen, view } from "../route";
import { isBaseline } from "../run_rules";
import { teamName } from "../team_name";
import { OneDataset } from "../ui/choices";
import { useFreshAt } from "../ui/clock";
import { useColumnNote } from "../ui/column_note";
import { download, downloadList } from "../ui/download";
import { nameOf } from "../ui/run_state";
import { Action, Failure, Loaded, Tag } from "../ui/show";
import { type OfTask, TaskFrame } from "../ui/task_nav";
import { When } from "../ui/time";

type Dataset = Schemas["Dataset"];
type Entry = Schemas["LeaderboardEntry"];

export default function Leaderboard({ params, query }: Screen) {
  return (
    <TaskFrame taskId={params.taskId!} title="Leaderboard" at="/leaderboard">
      {of => <Boards {...of} query={query} />}
    </TaskFrame>
  );
}

function Boards({ task, me, query }: OfTask & { query: URLSearchParams }) {
  const reader = readerOf(organizes(me, task.organizerId), registrationIn(me, task.id) !== undefined);
  return (
    <OneDataset
      taskId={task.id}
      query={query}
      empty={<p>The task has no dataset, and so no leaderboard.</p>}
      first={all => all.find(d => d.split === "test")}
    >
      {d => <Board key={d.id} of={d} query={query} reader={reader} />}
    </OneDataset>
  );
}

const most = 200; // largest number of entries in an answer of the tool

/** noteOf returns the mark of an entry that not everyone sees. It returns an empty string for other entries. */
function noteOf(e: Entry): string {
  if (e.hidden) return markOf(e);
  return e.audience === "registrants" ? "teams that take part see it" : "";
}

type OfBoard = { of: Dataset; query: URLSearchParams; reader: Reader };

function Board({ of: d, query: chosen, reader }: OfBoard) {
  const query = withoutChoices(chosen, lackedChoices(chosen, d));
  const show = query.get("show") ?? "best";
  const [limit, setLimit] = useState(50);
  const [on, setOn] = useState(false); // show more entries than the tool answers
  const [ticked, setTicked] = useState<string[]>([]);
  const input: Schemas["LeaderboardInput"] = {
    datasetId: d.id,
    limit,
    best: show === "best",
    ...(show === "final" && { final: true, best: false }),
    ...(query.get("sort") && { measure: query.get("sort")! }),
    ...(query.get("view") === "public" && { view: "public" }),
    ...(query.get("against") && { against: Number(query.get("against")) }),
  };
  const answer = useTool("leaderboard", input);
  const faults = answer.error?.document.errors;
  const board = lackedChoices(query, d, faults).length > 0 ? { ...answer, error: undefined } : answer;
  const lacked = lackedChoices(chosen, d, faults);
  useEffect(() => {
    if (lacked.length > 0) view(chosen, Object.fromEntries(lacked.map(name => [name, undefined])));
  }, [lacked.join()]);
  useFreshAt([board.data?.empty?.until, ...windowsOf([d]), ...(d.columns ?? []).map(instantOf)]);
  const note = useColumnNote(d, board.data?.columns, input.view === "public" ? "everyone" : reader);
  const list = {
    "filter[datasetId]": [d.id],
    sort: input.measure ?? "rank",
    limit: most,
    ...(show !== "all" && { [show]: "true" }),
    ...(input.view && { view: input.view }),
  };
  const rest = useList(on ? "/v1/tasks/{taskId}/evaluations" : null, {
    path: { taskId: d.taskId },
    query: { ...list, offset: most },
  });
  const table = new URLSearchParams(Object.entries(list).map(([name, value]) => [name, String(value)]));
  const choose = (choices: Record<string, string | undefined>): void => {
    setOn(false);
    view(query, { against: undefined, ...choices });
  };
  const choice = (
    name: string,
    value: string | undefined,
    said: string,
    now: string | undefined,
  ): ComponentChildren => (
    <button
      key={said}
      type="button"
      aria-pressed={now === value}
      onClick={() => (now === value ? void refresh() : choose({ [name]: value }))}
    >
      {said}
    </button>
  );
  const shown = show === "best" ? undefined : show;
  const seen = query.get("view") ?? undefined;
  return (
    <>
      <p class="tabs" role="group" aria-label="Entries">
        {choice("show", undefined, "Best of each team", shown)}
        {choice("show", "all", "All runs", shown)}
        {Boolean(d.finalRuns) && choice("show", "final", "Final runs", shown)}
        {choice("view", seen ? undefined : "public", seen ? "As I see it" : "As others see it", "")}
      </p>
      {Boolean(d.finalRuns) && show !== "final" && (
        <p class="small">
          Runs that do not count are ranked here, too. Of each team, {count(d.finalRuns!, "final run")}{" "}
          {d.finalRuns === 1 ? "counts" : "count"}: choose “Final runs” for their ranks.
        </p>
      )}
      <Loaded of={board}>
        {b => {
          const later = on ? (rest.items ?? []) : [];
          const entries = [...b.entries, ...later.map(e => ({ ...e, evaluationId: e.id }))];
          const more = (): (() => void) | undefined => {
            if (on && limit >= most) return rest.more;
            if (!b.more) return undefined;
            return limit < most ? () => setLimit(limit * 2) : () => setOn(true);
          };
          const asked = query.get("columns")?.split(",") ?? [];
          const known = b.columns.filter(c => asked.includes(c.key));
          const columns = known.length > 0 ? known : b.columns.slice(0, 6);
          const by = columnOf(b, b.measure);
          return (
            <>
              {b.finalsNote && <p class="small">{b.finalsNote}</p>}
              {b.notPublic > 0 && (
                <p class="small">
                  {b.notPublic === 1
                    ? "One entry is not public. It is marked, and all ranks count it."
                    : `${b.notPublic} entries are not public. They are marked, and all ranks count them.`}{" "}
                  “As others see it” has the ranks that others see.
                </p>
              )}
              {note && <p class="small">{note}</p>}
              {entries.length > 0 && (
                <Columns all={b.columns} chosen={columns} choose={c => view(query, { columns: c.join(",") })} />
              )}
              {b.entries.length === 0 ? (
                <p class="empty">{b.empty && inWords(b.empty)}</p>
              ) : (
                <Entries
                  of={{ ...b, entries }}
                  columns={columns}
                  ticked={ticked}
                  tick={setTicked}
                  sort={m => choose({ sort: m })}
                  sorts={c => reader === "organizers" || isForEveryone(c)}
                />
              )}
              {on && rest.error && <Failure of={rest.error} retry={rest.reload} />}
              {entries.length > 0 && (
                <p class="actions">
                  {entries.length > 1 && (
                    <a
                      class="button"
                      aria-disabled={ticked.length < 2}
                      href={ticked.length < 2 ? undefined : `#/compare?runs=${ticked.join(",")}`}
                    >
                      Compare {ticked.length || ""} runs
                    </a>
                  )}
                  {more() && (
                    <button type="button" class="plain" onClick={more()}>
                      Show more
                    </button>
                  )}
                  <Action plain run={() => downloadList(`/v1/tasks/${d.taskId}/evaluations?${table}`, `${d.name}.csv`)}>
                    Download CSV
                  </Action>
                  <Action plain run={() => download("/v1/tools/leaderboard", "image/svg+xml", `${d.name}.svg`, input)}>
                    Download SVG
                  </Action>
                </p>
              )}
              {b.truthVersion > 1 && entries.length > 0 && (
                <p class="small">
                  Evaluated against {versionName(b.truthVersion)}. {changesNote(b)}{" "}
                  <button
                    type="button"
                    class="plain"
                    onClick={() => choose({ against: b.against ? undefined : String(b.truthVersion - 1) })}
                  >
                    {b.against ? "Show only ranks" : "Show what the last version changed"}
                  </button>
                </p>
              )}
              {entries.length > 0 && (
                <p class="small quiet">
                  {b.measure ? (
                    <>
                      Rank by <bdi>{columnName(by)}</bdi>
                      {b.lowerIsBetter ? ", lower is better" : ""}.
                    </>
                  ) : (
                    "The entries have no rank: a team sees only the results of its own runs now."
                  )}{" "}
                  {b.groupsNote} {b.intervalsNote} {entries.length > 1 && "Tick two or more runs to compare them."}
                </p>
              )}
            </>
          );
        }}
      </Loaded>
    </>
  );
}

/** rankOf returns the rank of an entry, in parentheses if others do not see the entry. Entries without a value have no rank. */
function rankOf(e: Entry): string {
  if (!e.rank) return "–";
  return e.hidden ? `(${e.rank})` : `${e.rank}`;
}

type Choosing = { all: Column[]; chosen: Column[]; choose: (keys: string[]) => void };

const Columns = ({ all, chosen, choose }: Choosing) =>
  all.length < 2 ? null : (
    <details>
      <summary>Columns</summary>
      <p>
        {all.map(one => (
          <label key={one.key} class="choice">
            <input
              type="checkbox"
              checked={chosen.includes(one)}
              onChange={e =>
                choose(all.filter(c => (c === one ? e.currentTarget.checked : chosen.includes(c))).map(c => c.key))
              }
            />{" "}
            <bdi>{columnName(one)}</bdi>
          </label>
        ))}
      </p>
    </details>
  );

/** RunName shows the name of a run, as a link if the reader may see the page of the run. */
const RunName = ({ of: e }: { of: Entry }) =>
  e.private ? (
    <span class="small">
      <bdi>{nameOf(e)}</bdi> <span class="quiet">(private)</span>
    </span>
  ) : (
    <a class="small" href={`#/runs/${e.runId}`}>
      <bdi>{nameOf(e)}</bdi>
    </a>
  );

type Rows = {
  of: Schemas["LeaderboardOutput"];
  columns: Column[];
  ticked: string[];
  tick: (runs: string[]) => void;
  sort: (measure: string) => void;
  sorts: (c: Column) => boolean;
};

function Entries({ of: b, columns, ticked, tick, sort, sorts }: Rows) {
  const grouped = b.entries.some(e => e.group);
  const order = b.lowerIsBetter ? "ascending" : "descending";
  return (
    <div class="scroll named" tabIndex={0} role="group" aria-label="Leaderboard">
      <table>
        <thead>
          <tr>
            <th scope="col">
              <span class="hidden">Compare</span>
            </th>
            <th scope="col" class="number">
              Rank
            </th>
            <th scope="col">Team</th>
            {columns.map(c => (
              <th key={c.key} scope="col" class="number" aria-sort={c.key === b.measure ? order : undefined}>
                {c.group && (
                  <>
                    <bdi class="small quiet">{c.group}</bdi>
                    <br />
                  </>
                )}
                {sorts(c) ? (
                  <button
                    type="button"
                    class="plain"
                    aria-label={`${c.key === b.measure ? "Sorted" : "Sort"} by ${headingOf(c)}`}
                    onClick={() => sort(c.key)}
                  >
                    <bdi>{headingOf(c)}</bdi>
                  </button>
                ) : (
                  <bdi>{headingOf(c)}</bdi>
                )}
              </th>
            ))}
            {grouped && <th scope="col">Group</th>}
          </tr>
        </thead>
        <tbody>
          {b.entries.map(e => (
            <tr key={e.evaluationId}>
              <td>
                <input
                  type="checkbox"
                  aria-label={`Compare ${teamName(e)}, ${nameOf(e)}`}
                  checked={ticked.includes(e.runId)}
                  onChange={c =>
                    tick(c.currentTarget.checked ? [...ticked, e.runId] : ticked.filter(r => r !== e.runId))
                  }
                />
              </td>
              <td class="number">
                {rankOf(e)}
                {e.change?.absent && <span class="small quiet"> (new)</span>}
                {e.change && !e.change.absent && e.change.difference !== 0 && (
                  <span class="small quiet">
                    {" "}
                    ({e.change.difference > 0 ? "+" : ""}
                    {e.change.difference})
                  </span>
                )}
              </td>
              <th scope="row">
                <bdi>{teamName(e)}</bdi> {e.baseline && !isBaseline(e) && <Tag>baseline</Tag>}{" "}
                {e.final && <Tag kind="good">final</Tag>} {noteOf(e) && <Tag kind="warm">{noteOf(e)}</Tag>}
                <br />
                <RunName of={e} />{" "}
                <span class="small quiet">
                  <When at={e.submittedAt} />
                  {e.runs && e.runs > 1 ? `, best of ${e.runs} here` : ""}
                  {e.affiliation && (
                    <>
                      , <bdi>{e.affiliation}</bdi>
                    </>
                  )}
                </span>
                {e.paperUrl && (
                  <>
                    {" "}
                    ·{" "}
                    <a class="small" href={e.paperUrl} rel="nofollow noopener">
                      paper
                    </a>
                  </>
                )}
              </th>
              {columns.map(c => (
                <td key={c.key} class="number">
                  {cellOf(c, resultOf(e, c.key))}
                  {c.key === b.measure && e.interval && (
                    <span class="small quiet">
                      <br />
                      {cellOf(c, e.interval.low)}–{cellOf(c, e.interval.high)}
                    </span>
                  )}
                </td>
              ))}
              {grouped && <td>{e.group}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

// The comparison of runs: differences of scores, of topics and of documents. The reader picks runs by name, and the
// address keeps them.
import { useState } from "preact/hooks";
import type { Schemas } from "../api";
import { type Column, cellOf, columnName, columnOf, decimals, resultOf, scoreName } from "../columns";
import { useGet, useList, useTool } from "../data";
import { type Screen, view } from "../route";
import { Chart } from "../ui/chart";
import { Select, Tabs } from "../ui/choices";
import { ColumnName } from "../ui/column_name";
import { download } from "../ui/download";
import { RunSelect, useRivals } from "../ui/rivals";
import { nameOf, ranks, teamOf } from "../ui/run_state";
import { Action, Heading, Items, Loaded, Members, Row, Table, Tag } from "../ui/show";
import { say } from "../ui/status";
import { Documents } from "./compare_documents";

const tools = { significance: "Do they differ?", topics: "By topic", diffir: "By document" };
type Tool = keyof typeof tools;
type Evaluation = Schemas["Evaluation"];
type Dataset = Schemas["Dataset"];
type Input = { runs: object[]; measure?: string };
type Choices = { input: Input; query: URLSearchParams; dataset: Dataset | undefined };
const kinds = [
  ["image/svg+xml", "svg", "SVG"],
  ["text/html", "html", "page"],
  ["application/json", "json", "JSON"],
] as const;

export default function Compare({ query }: Screen) {
  const runs = query.get("runs")?.split(",").filter(Boolean) ?? [];
  const compared = useList(runs.length > 0 ? "/v1/evaluations" : null, {
    query: { "filter[runId]": runs, limit: 200 },
  });
  const measure = query.get("measure") ?? undefined;
  const of = runs.flatMap(r => compared.items?.find(e => e.runId === r) ?? []);
  const datasetId = of[0]?.datasetId;
  const dataset = useGet(datasetId ? "/v1/datasets/{datasetId}" : null, { path: { datasetId: datasetId ?? "" } }).data;
  return (
    <>
      {of[0] && (
        <p class="small">
          <a href={`#/tasks/${of[0].taskId}/leaderboard?dataset=${of[0].datasetId}`}>Leaderboard</a>
        </p>
      )}
      <Heading title="Compare runs">Compare runs</Heading>
      <Picker runs={runs} of={of} dataset={dataset} measure={measure} choose={choices => view(query, choices)} />
      {runs.length < 2 ? (
        <p class="empty">
          Choose at least two runs on the same dataset. On a leaderboard, tick them and press Compare.
        </p>
      ) : (
        <Items of={compared} empty={<p>You cannot see the scores of these runs.</p>}>
          {() => (
            <>
              <Scores of={of} dataset={dataset} />
              <Comparison of={of} query={query} measure={measure} dataset={dataset} />
            </>
          )}
        </Items>
      )}
    </>
  );
}

type Compared = { of: Evaluation[]; query: URLSearchParams; measure?: string; dataset: Dataset | undefined };

function Comparison({ of, query, measure, dataset }: Compared) {
  if (of.length < 2) return <p class="empty">Add another run: runs are compared whose scores you can see.</p>;
  if (of.some(e => e.evaluator.kind === "worker" && !e.perTopic))
    return (
      <p class="small quiet">
        Whether runs differ by more than chance is computed from values by topic, which these measures do not have.
      </p>
    );
  const input = { runs: of.map(e => ({ runId: e.runId })), ...(measure && { measure }) };
  return (
    <Tests
      query={query}
      input={input}
      dataset={dataset}
      ranked={of.every(e => ranks(e.evaluator.kind))}
      readable={of.every(e => !e.private)}
    />
  );
}

/** columnsOfAll returns the columns of all evaluations. */
const columnsOfAll = (of: Evaluation[], dataset: Dataset | undefined): Column[] =>
  [...new Set(of.flatMap(e => e.columns))].map(key => columnOf(dataset, key));

/** Scores shows every measure of the runs, side by side. */
const Scores = ({ of, dataset }: { of: Evaluation[]; dataset: Dataset | undefined }) => (
  <Table named label="Scores" head={["Measure", ...of.map(e => ({ number: `${teamOf(e)}: ${nameOf(e)}` }))]}>
    {columnsOfAll(of, dataset).map(c => (
      <Row key={c.key} head={<ColumnName of={c} />} numbers={of.map(e => cellOf(c, resultOf(e, c.key)))} />
    ))}
  </Table>
);

/** Tests shows whether runs differ significantly and, for rankings, on which topics and documents. */
function Tests({ input, query, dataset, ranked, readable }: Choices & { ranked: boolean; readable: boolean }) {
  const asked = ranked ? (query.get("tool") ?? "") : "";
  const tool = (Object.hasOwn(tools, asked) ? asked : "significance") as Tool;
  const documents = tool === "diffir";
  return (
    <>
      {ranked && <Tabs label="What to compare" options={tools} value={tool} choose={t => view(query, { tool: t })} />}
      {tool === "significance" && <Significance input={input} dataset={dataset} />}
      {tool === "topics" && <Topics input={input} query={query} dataset={dataset} />}
      {documents && !readable && (
        <p class="empty">
          At least one of these runs belongs to a private submission. To compare documents, you need access to the files
          of all runs.
        </p>
      )}
      {documents && readable && <Documents input={input} query={query} dataset={dataset} />}
      <p class="actions">
        <Action plain run={() => navigator.clipboard.writeText(location.href).then(() => say("The link is copied."))}>
          Copy the link
        </Action>
        {(documents && !readable ? [] : kinds.slice(documents ? 1 : 0)).map(([mediaType, end, said]) => (
          <Action
            key={`${tool} ${end}`}
            plain
            run={() => download(`/v1/tools/${tool}`, mediaType, `${tool}.${end}`, input)}
          >
            Download {said}
          </Action>
        ))}
      </p>
      {ranked && readable && <Fuse runs={input.runs} />}
    </>
  );
}

const methods = {
  rrf: "Reciprocal ranks",
  combsum: "Sum of scores (CombSUM)",
  combmnz: "Sum of scores times the runs that have the document (CombMNZ)",
};

/** Fuse makes one file of the compared runs. */
function Fuse({ runs }: { runs: object[] }) {
  const [method, setMethod] = useState("rrf");
  return (
    <details>
      <summary>Fuse these runs to one</summary>
      <p>
        The fused run is a file in the format of TREC, which you can submit. Users who can read the files of all runs
        can fuse them.
      </p>
      <Select id="method" label="Method" options={methods} value={method} choose={setMethod} />
      <Action run={() => download("/v1/tools/fusion", "text/plain", "fused.txt", { runs, method })}>
        Download the fused run
      </Action>
    </details>
  );
}

type Picked = {
  runs: string[];
  of: Evaluation[];
  dataset: Dataset | undefined;
  measure: string | undefined;
  choose: (choices: Record<string, string | undefined>) => void;
};

/** Picker shows the compared runs, and offers further runs of the same dataset. */
function Picker({ runs, of, dataset, measure, choose }: Picked) {
  const all = useRivals(of[0]?.datasetId);
  const pick = (next: string[]): void =>
    choose({ runs: next.join(","), topic: undefined, ...(next.length === 0 && { measure: undefined }) });
  const columns = columnsOfAll(of, dataset);
  const named = (runId: string): string => {
    const e = of.find(a => a.runId === runId);
    return e ? `${teamOf(e)}: ${nameOf(e)}` : nameOf({ runId });
  };
  return (
    <>
      <ul class="rows">
        {runs.map(r => (
          <li key={r}>
            <span>
              {of.some(e => e.runId === r && e.private) ? (
                <bdi>{named(r)}</bdi>
              ) : (
                <a href={`#/runs/${r}`}>
                  <bdi>{named(r)}</bdi>
                </a>
              )}
              {of.length > 0 && !of.some(e => e.runId === r) && " You cannot see its scores."}
            </span>
            <button
              type="button"
              class="plain"
              aria-label={`Remove ${named(r)}`}
              onClick={() => pick(runs.filter(x => x !== r))}
            >
              Remove
            </button>
          </li>
        ))}
      </ul>
      <RunSelect
        id="add"
        label="Add a run"
        of={all.filter(e => !runs.includes(e.runId))}
        dataset={dataset}
        choose={run => pick([...runs, run])}
      />
      {runs.length > 1 && columns.length > 1 && of[0] && ranks(of[0].evaluator.kind) && (
        <Select
          id="measure"
          label="Measure"
          value={measure ?? ""}
          choose={m => choose({ measure: m })}
          options={{
            "": `The one that ranks (${scoreName(of[0], dataset)})`,
            ...(measure && { [measure]: columnName(columnOf(dataset, measure)) }),
            ...Object.fromEntries(columns.map(c => [c.key, columnName(c)])),
          }}
        />
      )}
    </>
  );
}

function Significance({ input, dataset }: Omit<Choices, "query">) {
  return (
    <Loaded of={useTool("significance", input)}>
      {s => (
        <>
          <p class="lead">{s.conclusion}</p>
          <Table
            label="Pairs of runs"
            head={[
              "Pair",
              ...[
                `Difference of ${columnName(columnOf(dataset, s.measure))}`,
                `p (${s.test})`,
                `Corrected (${s.correction})${s.rounded ? ", at most" : ""}`,
                "Effect (d)",
              ].map(number => ({ number })),
              "Verdict",
            ]}
          >
            {s.pairs.map(p => (
              <Row
                key={`${p.first} ${p.second}`}
                head={
                  <>
                    <bdi>{s.runs[p.first]?.name}</bdi> and <bdi>{s.runs[p.second]?.name}</bdi>
                  </>
                }
                numbers={[
                  p.difference,
                  p[s.test as "t" | "wilcoxon" | "randomization" | "mcnemar" | "bootstrap"]?.p,
                  p.p,
                  p.cohensD,
                ].map(decimals)}
              >
                <td>{p.different ? <Tag kind="good">different</Tag> : `not told apart${s.rounded ? " here" : ""}`}</td>
              </Row>
            ))}
          </Table>
          <Members
            of={s.runs.map(r => [
              <bdi>{r.name}</bdi>,
              <>
                {decimals(r.mean)}{" "}
                <span class="small quiet">
                  ({decimals(r.interval.low)}–{decimals(r.interval.high)})
                </span>
              </>,
            ])}
          />
          <p class="small quiet">
            Over {s.topics} topics or examples
            {s.leftOut > 0 && `; ${s.leftOut} that only some of the runs have were left out`}.
            {s.rounded &&
              " p is rounded up, because exact values would tell the truth of single examples. Organizers see exact p, which can distinguish more pairs."}{" "}
            {s.intervalsNote}
          </p>
        </>
      )}
    </Loaded>
  );
}

const orders: Record<Schemas["TopicsInput"]["sort"] & string, string> = {
  hardest: "Hardest first",
  spread: "Most different first",
  topic: "By name",
};

function Topics({ input, query, dataset }: Choices) {
  const asked = query.get("order") ?? "";
  const sort = (Object.hasOwn(orders, asked) ? asked : "hardest") as keyof typeof orders;
  const [limit, setLimit] = useState(50);
  return (
    <>
      <Select id="order" label="Order" options={orders} value={sort} choose={order => view(query, { order })} />
      <Loaded of={useTool("topics", { ...input, sort, limit })}>
        {t => (
          <>
            <Chart
              tool="topics"
              input={{ ...input, sort, limit }}
              alt={`${columnName(columnOf(dataset, t.measure))} by run and topic; the table below has the same values`}
            />
            <Table
              named
              label="Values by topic"
              head={["Topic", ...t.runs.map(r => ({ number: r.name })), { number: "Spread" }]}
            >
              {t.topics.map(line => (
                <Row
                  key={line.topic}
                  head={
                    <>
                      <button
                        type="button"
                        class="plain"
                        onClick={() => view(query, { tool: "diffir", topic: line.topic })}
                      >
                        <bdi>{line.topic}</bdi>
                      </button>{" "}
                      {line.hard && <Tag kind="warm">hard</Tag>}
                    </>
                  }
                  numbers={[
                    ...line.values.map(v => (
                      <>
                        {cellOf(columnOf(dataset, t.measure), v)}{" "}
                        {v !== null && (
                          <meter min={Math.min(0, v)} max={Math.max(1, line.max)} value={v} aria-hidden="true" />
                        )}
                      </>
                    )),
                    decimals(line.spread),
                  ]}
                />
              ))}
            </Table>
            {t.count > t.topics.length && (
              <button type="button" class="plain" onClick={() => setLimit(limit * 2)}>
                Show more of {t.count} topics
              </button>
            )}
          </>
        )}
      </Loaded>
    </>
  );
}

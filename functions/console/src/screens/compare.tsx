// Runs compared: whether they differ, on which topics, and in which documents. Runs are picked by name, and the address keeps them.
import { useState } from "preact/hooks";
import type { Schemas } from "../api";
import { useGet, useTool } from "../data";
import { useMe } from "../roles";
import { view, type Screen } from "../route";
import { download } from "../ui/download";
import { decimals, nameOf } from "../ui/run_state";
import { Action, Heading, Loaded, Tag } from "../ui/show";

const tools = { significance: "Do they differ?", topics: "By topic", diffir: "By document" };
type Tool = keyof typeof tools;

export default function Compare({ query }: Screen) {
  const runs = query.get("runs")?.split(",").filter(Boolean) ?? [];
  const tool = (query.get("tool") ?? "significance") as Tool;
  const measure = query.get("measure") ?? undefined;
  const input = { runs: runs.map(runId => ({ runId })), ...(measure && { measure }) };
  return (
    <>
      <Heading title="Compare runs">Compare runs</Heading>
      <Picker runs={runs} choose={r => view(query, { runs: r.join(",") })} />
      {runs.length < 2 ? <p class="empty">Choose at least two runs on the same dataset. On a leaderboard, tick them and press Compare.</p> : (
        <>
          <p class="tabs" role="group" aria-label="What to compare">
            {(Object.keys(tools) as Tool[]).map(t => <button key={t} type="button" aria-pressed={t === tool} onClick={() => view(query, { tool: t })}>{tools[t]}</button>)}
          </p>
          {tool === "significance" && <Significance input={input} />}
          {tool === "topics" && <Topics input={input} />}
          {tool === "diffir" && <Documents input={input} />}
          <p class="actions">
            {tool !== "significance" && <Action plain run={() => download(`/v1/tools/${tool}`, tool === "topics" ? "image/svg+xml" : "text/html", `${tool}.${tool === "topics" ? "svg" : "html"}`, input)}>Download {tool === "topics" ? "SVG" : "page"}</Action>}
            <Action plain run={() => download(`/v1/tools/${tool}`, "application/json", `${tool}.json`, input)}>Download JSON</Action>
          </p>
        </>
      )}
    </>
  );
}

/** Picker shows the runs that are compared, and offers those of the same dataset. */
function Picker({ runs, choose }: { runs: string[]; choose: (runs: string[]) => void }) {
  const me = useMe();
  const first = useGet(runs[0] ? "/v1/runs/{runId}" : null, { params: { path: { runId: runs[0] ?? "" } } }).data;
  const board = useGet(first ? "/v1/evaluations" : null, { params: { query: { "filter[datasetId]": [first?.datasetId ?? ""], sort: "rank", limit: 50 } } }).data?.data ?? [];
  const mine = useGet(me ? "/v1/evaluations" : null, { params: { query: { "filter[userId]": [me?.id ?? ""], limit: 50 } } }).data?.data ?? [];
  const all = [...board, ...mine.filter(m => (!first || m.datasetId === first.datasetId) && !board.some(b => b.id === m.id))];
  const named = (id: string): string => {
    const e = all.find(a => a.runId === id);
    return e ? `${e.team}: ${nameOf(e)}` : first?.id === id ? `${first.team}: ${nameOf(first)}` : `Run ${id.slice(-6)}`;
  };
  return (
    <>
      <ul class="rows">
        {runs.map(r => (
          <li key={r}><a href={`#/runs/${r}`}><bdi>{named(r)}</bdi></a><button type="button" class="plain" aria-label={`Remove ${named(r)}`} onClick={() => choose(runs.filter(x => x !== r))}>Remove</button></li>
        ))}
      </ul>
      <p class="field">
        <label for="add">Add a run</label>
        <select id="add" value="" onChange={e => choose([...runs, e.currentTarget.value])}>
          <option value="">Choose a run …</option>
          {all.filter(e => !runs.includes(e.runId)).map(e => <option key={e.id} value={e.runId}>{named(e.runId)}{e.baseline ? " (baseline)" : ""}, {decimals((e.measures as Record<string, number | null>)[e.primaryMeasure])}</option>)}
        </select>
      </p>
    </>
  );
}

function Significance({ input }: { input: object }) {
  return (
    <Loaded of={useTool("significance", input)}>
      {s => (
        <>
          <p class="lead">{s.conclusion}</p>
          <div class="scroll" tabIndex={0} role="group" aria-label="Pairs of runs">
            <table>
              <thead><tr><th scope="col">Pair</th><th scope="col" class="number">Difference of {s.measure}</th><th scope="col" class="number">p ({s.test}, {s.correction})</th><th scope="col" class="number">Effect (d)</th><th scope="col">Verdict</th></tr></thead>
              <tbody>
                {s.pairs.map(p => (
                  <tr key={`${p.first} ${p.second}`}>
                    <th scope="row"><bdi>{s.runs[p.first]?.name}</bdi> and <bdi>{s.runs[p.second]?.name}</bdi></th>
                    <td class="number">{decimals(p.difference)}</td><td class="number">{decimals(p.p)}</td><td class="number">{decimals(p.cohensD)}</td>
                    <td>{p.different ? <Tag kind="good">different</Tag> : "not told apart"}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
          <dl class="members">
            {s.runs.flatMap(r => [<dt key={r.name}><bdi>{r.name}</bdi></dt>, <dd key={`${r.name} mean`}>{decimals(r.mean)} <span class="small quiet">({decimals(r.interval.low)}–{decimals(r.interval.high)})</span></dd>])}
          </dl>
          <p class="small quiet">Over {s.topics} topics{s.leftOut > 0 && `; ${s.leftOut} that only some of the runs have were left out`}.</p>
        </>
      )}
    </Loaded>
  );
}

const orders: Record<Schemas["TopicsInput"]["sort"] & string, string> = { hardest: "Hardest first", spread: "Most different first", topic: "By name" };

function Topics({ input }: { input: object }) {
  const [sort, setSort] = useState<keyof typeof orders>("spread");
  const [limit, setLimit] = useState(50);
  return (
    <>
      <p class="field">
        <label for="order">Order</label>
        <select id="order" value={sort} onChange={e => setSort(e.currentTarget.value as keyof typeof orders)}>{Object.entries(orders).map(([v, said]) => <option key={v} value={v}>{said}</option>)}</select>
      </p>
      <Loaded of={useTool("topics", { ...input, sort, limit })}>
        {t => (
          <>
            <div class="scroll" tabIndex={0} role="group" aria-label="Values by topic">
              <table>
                <thead><tr><th scope="col">Topic</th>{t.runs.map(r => <th key={r.name} scope="col" class="number"><bdi>{r.name}</bdi></th>)}<th scope="col" class="number">Spread</th></tr></thead>
                <tbody>
                  {t.topics.map(line => (
                    <tr key={line.topic}>
                      <th scope="row"><bdi>{line.topic}</bdi> {line.hard && <Tag kind="warm">hard</Tag>}</th>
                      {line.values.map((v, i) => <td key={i} class="number">{decimals(v)} {v !== null && <meter min={Math.min(0, v)} max={Math.max(1, line.max)} value={v} aria-hidden="true" />}</td>)}
                      <td class="number">{decimals(line.spread)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
            {t.count > t.topics.length && <button type="button" class="plain" onClick={() => setLimit(limit * 2)}>Show more of {t.count} topics</button>}
          </>
        )}
      </Loaded>
    </>
  );
}

function Documents({ input }: { input: object }) {
  const [at, setAt] = useState(0);
  const all = useTool("diffir", { ...input, limit: 20 });
  return (
    <Loaded of={all}>
      {d => {
        const shown = d.topics.filter(t => t.rankings);
        const topic = shown[Math.min(at, shown.length - 1)];
        if (!topic) return <p class="empty">These runs have no topic in common.</p>;
        return (
          <>
            <p class="actions">
              <button type="button" class="plain" disabled={at === 0} onClick={() => setAt(at - 1)}>Previous topic</button>
              <strong><bdi>{topic.topic}</bdi></strong> {topic.query && <bdi>{topic.query}</bdi>}
              <button type="button" class="plain" disabled={at >= shown.length - 1} onClick={() => setAt(at + 1)}>Next topic</button>
              <span class="small quiet">{at + 1} of the {shown.length} of {d.topicCount} topics that differ most; overlap {decimals(topic.overlap)}</span>
            </p>
            <div class="sides">
              {topic.rankings!.map((ranking, i) => (
                <section key={i} aria-label={d.runs[i]?.name}>
                  <h2><bdi>{d.runs[i]?.name}</bdi></h2>
                  <ol>
                    {ranking.map(doc => {
                      const text = (topic.texts as Record<string, Schemas["DiffirText"]> | undefined)?.[doc.document];
                      return (
                        <li key={doc.document}>
                          <bdi>{text?.title || doc.document}</bdi> {doc.grade !== undefined && <Tag kind={doc.grade > 0 ? "good" : "bad"}>grade {doc.grade}</Tag>}{" "}
                          {doc.change && doc.change !== "kept" && <Tag>{doc.change === "came" ? "only here" : "moved"}</Tag>}
                          {text?.text && <p class="small quiet">{text.text.slice(0, 240)}</p>}
                        </li>
                      );
                    })}
                  </ol>
                </section>
              ))}
            </div>
          </>
        );
      }}
    </Loaded>
  );
}

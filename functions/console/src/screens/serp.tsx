// The documents that one run retrieved for a topic, as a page of search results.

import { decimals } from "../columns";
import { useTool } from "../data";
import { type Screen, view } from "../route";
import { download } from "../ui/download";
import { Action, Heading, Loaded, Tag } from "../ui/show";
import { TopicPager } from "../ui/topic_pager";

export default function Serp({ params, query }: Screen) {
  const runId = params.runId!;
  const topic = query.get("topic");
  const input = { run: { runId }, ...(topic && { topic }) };
  return (
    <>
      <Heading title="Results by topic">Results by topic</Heading>
      <Loaded of={useTool("serp", input)}>
        {s => (
          <>
            <p>
              <a href={`#/runs/${runId}`}>
                <bdi>{s.run}</bdi>
              </a>
            </p>
            <TopicPager
              topics={s.topics}
              at={s.topic}
              count={s.topicCount}
              order="by name"
              choose={t => view(query, { topic: t })}
            />
            {s.query && (
              <p class="lead">
                <bdi>{s.query}</bdi>
              </p>
            )}
            {s.textFaults?.map(f => (
              <p key={f.detail} class="small">
                {f.detail}
              </p>
            ))}
            <ol>
              {s.results.map(r => (
                <li key={r.document} value={r.rank}>
                  <bdi>{r.title || r.document}</bdi>{" "}
                  {r.grade !== undefined && <Tag kind={r.grade > 0 ? "good" : "bad"}>grade {r.grade}</Tag>}{" "}
                  <span class="small quiet">
                    {r.title && (
                      <>
                        <bdi>{r.document}</bdi>,{" "}
                      </>
                    )}
                    {decimals(r.score)}
                  </span>
                  {r.passage && (
                    <p class="small">
                      {r.before && "… "}
                      {r.passage.map((p, i) => (p.marked ? <mark key={i}>{p.text}</mark> : p.text))}
                      {r.after && " …"}
                    </p>
                  )}
                </li>
              ))}
            </ol>
            <p class="small quiet">
              The first {s.results.length} of {s.retrieved} documents.
              {!s.judged && " There are no judgments that you may read."}
            </p>
            <p class="actions">
              <Action plain run={() => download("/v1/tools/serp", "text/html", "results.html", input)}>
                Download page
              </Action>
            </p>
          </>
        )}
      </Loaded>
    </>
  );
}

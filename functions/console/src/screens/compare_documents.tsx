// The documents that runs retrieved for a topic, side by side.
import type { Schemas } from "../api";
import { cellOf, columnName, columnOf, decimals, type WithColumns } from "../columns";
import { useTool } from "../data";
import { view } from "../route";
import { Loaded, Tag } from "../ui/show";
import { TopicPager } from "../ui/topic_pager";

/** Documents shows one topic, at first the topic on which the runs differ most. */
export function Documents({
  input,
  query,
  dataset,
}: {
  input: object;
  query: URLSearchParams;
  dataset: WithColumns | undefined;
}) {
  return (
    <Loaded of={useTool("diffir", { ...input, limit: 1 })}>
      {d => {
        const topics = d.topics.map(t => t.topic);
        const topic = query.get("topic") ?? topics[0];
        if (topic === undefined) return <p class="empty">These runs have no topic in common.</p>;
        return (
          <>
            <TopicPager
              topics={topics}
              at={topic}
              count={d.topicCount}
              order="those that differ most first"
              choose={t => view(query, { topic: t })}
            />
            <Rankings input={{ ...input, topics: [topic] }} dataset={dataset} />
          </>
        );
      }}
    </Loaded>
  );
}

const stands = (rank: number | undefined, run: string): string => (rank ? `rank ${rank} in ${run}` : `not in ${run}`);

/** Rankings shows the documents that the runs retrieved for one topic, side by side. */
function Rankings({ input, dataset }: { input: object; dataset: WithColumns | undefined }) {
  return (
    <Loaded of={useTool("diffir", input)}>
      {d => {
        const topic = d.topics[0];
        if (!topic?.rankings) return <p class="empty">The runs retrieved nothing for this topic.</p>;
        const column = d.measure && columnOf(dataset, d.measure);
        return (
          <>
            <p>
              {topic.query && (
                <>
                  <bdi>{topic.query}</bdi>
                  <br />
                </>
              )}
              <span class="small quiet">
                Overlap {decimals(topic.overlap)}
                {topic.values &&
                  column &&
                  `; ${columnName(column)}: ${topic.values.map(v => cellOf(column, v)).join(", ")}`}
                . The first {d.depth} documents of each run.
              </span>
            </p>
            {d.textFaults?.map(f => (
              <p key={f.detail} class="small">
                {f.detail}
              </p>
            ))}
            <div class="sides">
              {topic.rankings.map((ranking, i) => (
                <section key={i} aria-label={d.runs[i]?.name}>
                  <h2>
                    <a href={`#/runs/${d.runs[i]?.runId}/serp?topic=${encodeURIComponent(topic.topic)}`}>
                      <bdi>{d.runs[i]?.name}</bdi>
                    </a>
                  </h2>
                  <ol>
                    {ranking.map(doc => {
                      const text = (topic.texts as Record<string, Schemas["DiffirText"]> | undefined)?.[doc.document];
                      return (
                        <li key={doc.document}>
                          <bdi>{text?.title || doc.document}</bdi>{" "}
                          {doc.grade !== undefined && (
                            <Tag kind={doc.grade > 0 ? "good" : "bad"}>grade {doc.grade}</Tag>
                          )}{" "}
                          {doc.change && doc.change !== "kept" && <Tag>{stands(doc.ranks[0], "the first")}</Tag>}
                          {doc.went && doc.went.length > 0 && (
                            <Tag kind="warm">
                              {d.runs.length === 2
                                ? stands(doc.ranks[1], "the other")
                                : `not shown of ${doc.went.length} others`}
                            </Tag>
                          )}
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

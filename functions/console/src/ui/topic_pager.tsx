// The navigation between the topics of runs: by name, or to the next topic.
type Pager = { topics: string[]; at: string; count: number; order: string; choose: (topic: string) => void };

export function TopicPager({ topics, at, count, order, choose }: Pager) {
  const i = topics.indexOf(at);
  return (
    <p class="actions">
      <button type="button" class="plain" disabled={i <= 0} onClick={() => choose(topics[i - 1]!)}>
        Previous topic
      </button>
      <span>
        <label for="topic">Topic</label>{" "}
        <select id="topic" class="short" value={at} onChange={e => choose(e.currentTarget.value)}>
          {[...(i < 0 ? [at] : []), ...topics].map(t => (
            <option key={t} value={t}>
              {t}
            </option>
          ))}
        </select>
      </span>
      <button type="button" class="plain" disabled={i >= topics.length - 1} onClick={() => choose(topics[i + 1]!)}>
        Next topic
      </button>
      <span class="small quiet">
        {i >= 0 && `${i + 1} of `}
        {count} topics, {order}
      </span>
    </p>
  );
}

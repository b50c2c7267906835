import type { Screen } from "../route";
import { useList } from "../data";
import { Heading, Items } from "../ui/show";

export default function Tasks(_: Screen) {
  const tasks = useList("/v1/tasks", {});
  return (
    <>
      <Heading title="Tasks">Tasks</Heading>
      <Items of={tasks} empty={<p>There is no task yet.</p>}>
        {all => <ul class="cards">{all.map(t => <li key={t.id} class="card"><h2><a href={`#/tasks/${t.id}`}><bdi>{t.name}</bdi></a></h2></li>)}</ul>}
      </Items>
    </>
  );
}

// A task that the reader does not find. Its organizers and the teams that took part are told that it was deleted.
import type { ComponentChildren } from "preact";
import type { Schemas } from "../api";
import { type Loading, useList } from "../data";
import { nobodyRestores } from "../deletion_words";
import { personOf } from "../known_names";
import { deletedTask, registrationIn, useMe } from "../roles";
import { Busy, Heading } from "./show";
import { Deadline, When } from "./time";
import { Visible } from "./visible";

/** MissingTask tells users who knew the task why it is not shown. Others see the same as for a task that does not exist. */
export function MissingTask({ taskId, of }: { taskId: string; of: Loading<Schemas["Task"]> }) {
  const me = useMe();
  const trash = useList("/v1/deletions", { query: { "filter[kind]": ["task"], "filter[taskId]": [taskId] } });
  if (!me || (!trash.items && !trash.error)) return <Busy />;
  const entry = trash.items?.[0];
  const deleted = deletedTask(me, taskId);
  if (entry)
    return (
      <Deleted name={entry.name}>
        This task was deleted <When at={entry.createdAt} />
        {entry.by && (
          <>
            {" "}
            by <bdi>{personOf(entry.by)}</bdi>
          </>
        )}
        . It can be restored from the <a href={`#/trash?task=${taskId}`}>trash</a> until{" "}
        <Deadline at={entry.expiresAt} />.
      </Deleted>
    );
  // The registration goes with the task, a moment later.
  if (deleted || registrationIn(me, taskId)?.state === "accepted")
    return (
      <Deleted name={deleted?.taskName}>
        The organizers have deleted this task, with what teams submitted to it.
        {deleted && (deleted.restorableUntil ? " If they restore it, this page shows it again." : ` ${nobodyRestores}`)}
      </Deleted>
    );
  return (
    <Visible of={of} title="Task">
      {() => null}
    </Visible>
  );
}

const Deleted = ({ name = "A deleted task", children }: { name?: string; children: ComponentChildren }) => (
  <>
    <Heading title={name}>
      <bdi>{name}</bdi>
    </Heading>
    <p class="empty" role="status">
      {children}
    </p>
  </>
);

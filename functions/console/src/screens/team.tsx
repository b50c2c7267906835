// The reader's team in a task: its data, members and invitations.
import { patch, remove, type Schemas } from "../api";
import { done, useGet, useList, useNewest } from "../data";
import { personOf } from "../known_names";
import { endedIn, type Me, registrationIn } from "../roles";
import { go, type Screen } from "../route";
import { authorsOf } from "../teams";
import { ChangedTerms } from "../ui/changed_terms";
import { stateKinds } from "../ui/decide";
import { Ended } from "../ui/ended";
import { Exceptions } from "../ui/exceptions";
import { Form } from "../ui/form";
import { TeamInvitations } from "../ui/invitations";
import { MakeOwner } from "../ui/make_owner";
import { Quotas } from "../ui/quota";
import { TeamFields } from "../ui/registration_fields";
import { Action, Loaded, Tag } from "../ui/show";
import { TakePart } from "../ui/take_part";
import { Ask, type OfTask, TaskFrame } from "../ui/task_nav";
import { mergePatch, type Values } from "../ui/values";

type Registration = Schemas["Registration"];
const path = "/v1/tasks/{taskId}/registrations/{registrationId}";

export default function Team({ params }: Screen) {
  return (
    <TaskFrame taskId={params.taskId!} title="Team" at="/team">
      {of => {
        const mine = registrationIn(of.me, of.task.id);
        const ended = endedIn(of.me, of.task.id);
        if (!mine)
          return (
            <>
              {ended && <Ended of={ended} />}
              <p class="empty">
                You have no team in this task. <TakePart {...of} />
              </p>
            </>
          );
        return <Mine {...of} registrationId={mine.registrationId} />;
      }}
    </TaskFrame>
  );
}

const stated = {
  accepted: "Your team takes part.",
  pending: "The organizers decide about your team. This page says so once they have.",
  rejected: "The organizers rejected your team: it does not take part, and cannot submit.",
};
const fields = (r: Registration): Values => ({
  team: r.team,
  anonymous: r.anonymous,
  affiliation: r.affiliation,
  country: r.country,
  contact: r.contact,
});

function Mine({ task, me, registrationId }: OfTask & { registrationId: string }) {
  const ids = { taskId: task.id, registrationId };
  const registration = useGet(path, { path: ids });
  const { newest, latest } = useNewest(registration.data, () => registration.mutate());
  const change = (body: object, said: string): Promise<void> => done(patch(path, ids, body, newest.current), said);
  const withdraw = async (): Promise<void> => {
    await done(remove(path, ids), "The registration of your team is withdrawn.");
    go(`/tasks/${task.id}`);
  };
  return (
    <Loaded of={registration}>
      {r => {
        const out = r.state === "rejected";
        const owner = r.userId === me!.id && !out; // Only organizers change a rejected team.
        return (
          <>
            <p>
              <Tag kind={stateKinds[r.state]}>{r.state}</Tag> {stated[r.state]}{" "}
              {r.anonymous && (
                <>
                  Others see it as <bdi>{r.alias}</bdi>.
                </>
              )}{" "}
            </p>
            {r.quota && !out && <Quotas taskId={task.id} of={r.quota} state={r.state} />}
            {!out && <Exceptions task={task} of={r} />}
            <ChangedTerms task={task} of={r} />
            <h3>Members</h3>
            <Members of={r} me={me!} ids={ids} />
            {owner && (
              <>
                <h3>Invitations</h3>
                {task.registration?.mode === "closed" ? (
                  <p>
                    In this task only the organizers invite to teams.{" "}
                    <Ask task={task}>For a link for a new member, ask the organizers</Ask>
                  </p>
                ) : (
                  <TeamInvitations of={r} task={task} />
                )}
              </>
            )}
            {!out && <h3>About the team</h3>}
            {owner ? (
              <Form
                name={`team ${registrationId}`}
                initial={fields(r)}
                latest={async () => fields((await latest()) ?? r)}
                submit={(v, base) => change(mergePatch(base, v), "Saved.")}
              >
                {f => <TeamFields f={f} />}
              </Form>
            ) : (
              <p>
                {out ? (
                  <Ask task={task}>If that is a mistake, ask the organizers</Ask>
                ) : (
                  "The owner of the team changes its name and what it says of itself."
                )}
              </p>
            )}
            {owner && <Withdraw of={r} run={withdraw} />}
          </>
        );
      }}
    </Loaded>
  );
}

/** Withdraw withdraws a team that has submitted nothing. */
function Withdraw({ of: r, run }: { of: Registration; run: () => Promise<void> }) {
  const { items } = useList("/v1/tasks/{taskId}/submissions", {
    path: { taskId: r.taskId },
    query: { "filter[userId]": authorsOf(r), limit: 200 },
  });
  if (!items) return null;
  if (items.some(s => s.registrationId === r.id))
    return <p class="small quiet">Your team has submitted to the task, so it cannot withdraw.</p>;
  return (
    <details>
      <summary>Withdraw from the task</summary>
      <p>The registration is withdrawn for all members. It cannot be restored.</p>
      <Action plain run={run}>
        Withdraw the team
      </Action>
    </details>
  );
}

/** wayBack says how a user who is no longer in the team returns to it. */
const wayBack = ({ closedAt }: Pick<Schemas["Registration"], "closedAt">): string =>
  closedAt
    ? "Joining the team has closed: there is no way back unless the organizers move a close or give the team a later one."
    : "The way back is another invitation.";

function Members({ of: r, me, ids }: { of: Registration; me: Me; ids: { taskId: string; registrationId: string } }) {
  const fixed = r.state === "rejected";
  const owner = r.userId === me.id && !fixed;
  const leave = async (userId: string): Promise<void> => {
    await done(
      remove(`${path}/members/{userId}`, { ...ids, userId }),
      userId === me.id ? "You have left the team." : "They are no longer in the team.",
    );
    if (userId === me.id) go(`/tasks/${ids.taskId}`);
  };
  return (
    <ul class="rows">
      {r.members.map(id => {
        const person = r.people?.find(p => p.id === id);
        const name = (id === me.id && me.name) || personOf(person ?? { id });
        return (
          <li key={id}>
            <span>
              <bdi>{name}</bdi> {id === r.userId && <Tag>owner</Tag>} {id === me.id && <Tag>you</Tag>}
            </span>
            {owner && id !== me.id && <MakeOwner of={r} userId={id} name={name} />}
            {id !== r.userId && !fixed && (owner || id === me.id) && (
              <Action
                plain
                label={id === me.id ? "Leave the team" : `Remove ${name}`}
                run={() => leave(id)}
                ask={`${wayBack(r)}${id === me.id ? "" : " Open invitations to the team end."}`}
              >
                {id === me.id ? "Leave" : "Remove"}
              </Action>
            )}
          </li>
        );
      })}
    </ul>
  );
}

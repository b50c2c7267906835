// An organizer, for its members: description, members and invitations.

import { patch, remove, type Schemas } from "../api";
import { done, read, readAll, useGet, useList, useNewest } from "../data";
import { lostWith } from "../deletion_words";
import { personOf } from "../known_names";
import { isAdmin, useMe } from "../roles";
import { go, type Screen } from "../route";
import { Form } from "../ui/form";
import { Invitations } from "../ui/invitations";
import { Markdown } from "../ui/lazy";
import { Action, Heading, Listed, Loaded, Tag } from "../ui/show";
import { mergePatch, type Values } from "../ui/values";
import { Tasks } from "./desk";
import { OrganizerFields } from "./new_organizer";

const path = "/v1/organizers/{organizerId}";
const fields = (o: Schemas["Organizer"]): Values => ({ name: o.name, description: o.description, website: o.website });

export default function OrganizerScreen({ params }: Screen) {
  const organizerId = params.organizerId!;
  const ids = { organizerId };
  const me = useMe();
  const organizer = useGet(path, { path: ids });
  const mine = me?.memberships.find(m => m.organizerId === organizerId);
  const member = Boolean(mine) || isAdmin(me);
  const owner = mine?.role === "owner" || isAdmin(me);
  return (
    <Loaded of={organizer} title="Organizer">
      {o => (
        <>
          <Heading title={o.name}>
            <bdi>{o.name}</bdi>
          </Heading>
          {o.description && <Markdown source={o.description} />}
          {o.website && (
            <p>
              <a href={o.website} rel="nofollow noopener">
                Website
              </a>
            </p>
          )}
          {member && (
            <p class="actions">
              <a class="button" href={`#/tasks/new?organizer=${organizerId}`}>
                New task
              </a>
              <a href={`#/organizers/${organizerId}/webhooks`}>Webhooks</a>
              <a href={`#/organizers/${organizerId}/audit`}>Audit trail</a>
            </p>
          )}
          <h2>Tasks</h2>
          <Tasks organizerId={organizerId} member={member} />
          {member && (
            <>
              <h2>Members</h2>
              <Members ids={ids} owners={o.owners ?? []} owner={owner} me={me!.id} />
            </>
          )}
          {owner && (
            <>
              <h2>Invitations</h2>
              <Invitations to={ids} what="a member" />
            </>
          )}
          {member && <Edit of={o} ids={ids} owner={owner} changed={() => organizer.mutate()} />}
        </>
      )}
    </Loaded>
  );
}

type Organizer = Schemas["Organizer"];

function Edit({
  of: o,
  ids,
  owner,
  changed,
}: {
  of: Organizer;
  ids: { organizerId: string };
  owner: boolean;
  changed: () => Promise<Organizer | undefined>;
}) {
  const { newest, latest } = useNewest(o, changed);
  const tasks = useList("/v1/tasks", { query: { "filter[organizerId]": [o.id] } }).items;
  const drop = (): Promise<unknown> =>
    done(
      remove(path, ids).then(() => go("/desk")),
      `${o.name} is deleted.`,
    );
  return (
    <>
      <h2>About the organizer</h2>
      <Form
        name={`organizer ${o.id}`}
        initial={fields(o)}
        latest={async () => fields(await latest())}
        submit={(v, base) => done(patch(path, ids, mergePatch(base, v), newest.current), "Saved.")}
      >
        {f => <OrganizerFields f={f} />}
      </Form>
      {owner && tasks?.length === 0 && (
        <p class="actions">
          <Action plain run={drop} ask={() => warning(o.id)}>
            Delete the organizer
          </Action>
        </p>
      )}
      {owner && Boolean(tasks?.length) && (
        <p class="small quiet">
          An organizer with tasks cannot be deleted. Delete its tasks first. Nobody can restore them once the organizer
          is deleted.
        </p>
      )}
    </>
  );
}

/** warning asks whether to delete an organizer, and names the deleted tasks that nobody can restore then. */
async function warning(organizerId: string): Promise<string> {
  const query = { "filter[kind]": ["task" as const], "filter[organizerId]": [organizerId] };
  const tasks = await readAll("/v1/deletions", { query });
  return `${lostWith(tasks.map(d => d.name))}That cannot be undone.`;
}

type OfMembers = { ids: { organizerId: string }; owners: string[]; owner: boolean; me: string };

function Members({ ids, owners, owner, me }: OfMembers) {
  const all = useList(`${path}/members`, { path: ids });
  // A merge patch replaces the whole list of owners.
  const set = async (userId: string, to: boolean): Promise<void> => {
    const o = await read(path, { path: ids });
    await patch(
      path,
      ids,
      { owners: to ? [...(o.owners ?? []), userId] : (o.owners ?? []).filter(x => x !== userId) },
      o,
    );
  };
  const own = (userId: string, to: boolean): Promise<void> =>
    userId === me && !to
      ? done(set(userId, to), "You are an editor now.") // Editors make nobody an owner.
      : done(set(userId, to), to ? "They are an owner now." : "They are an editor now.", () => set(userId, !to));
  const drop = async (userId: string, name: string): Promise<void> => {
    await done(
      remove(`${path}/members/{userId}`, { ...ids, userId }),
      userId === me ? "You have left." : `${name} is no longer a member.`,
    );
    if (userId === me) go("/desk");
  };
  const only = (userId: string): boolean => owners.length === 1 && owners[0] === userId;
  const called = (m: { name?: string; email?: string; id: string }): string => personOf(m);
  return (
    <Listed of={all} empty={<p>None.</p>}>
      {m => (
        <>
          <span>
            <bdi>{called(m)}</bdi> <Tag>{m.role}</Tag>{" "}
            {m.name && (
              <span class="small quiet">
                <bdi>{m.email}</bdi>
              </span>
            )}
          </span>
          {(owner || m.id === me) && only(m.id) && (
            <span class="small quiet">The only owner stays until another member is an owner.</span>
          )}
          {owner && !only(m.id) && (
            <Action
              plain
              label={`Make ${m.role === "owner" ? "editor" : "owner"}: ${called(m)}`}
              run={() => own(m.id, m.role !== "owner")}
            >
              {m.role === "owner" ? "Make editor" : "Make owner"}
            </Action>
          )}
          {(owner || m.id === me) && !only(m.id) && (
            <Action
              plain
              label={m.id === me ? "Leave the organizer" : `Remove ${called(m)}`}
              run={() => drop(m.id, called(m))}
              ask="The way back is another invitation."
            >
              {m.id === me ? "Leave" : "Remove"}
            </Action>
          )}
        </>
      )}
    </Listed>
  );
}

// An organizer as its members run it: what it says of itself, who belongs to it, and who is invited.
import { patch, remove, type Schemas } from "../api";
import { done, read, useGet, useList, useNewest } from "../data";
import { isAdmin, useMe } from "../roles";
import { go, type Screen } from "../route";
import { Area, Text } from "../ui/fields";
import { Form, mergePatch, type Editing, type Values } from "../ui/form";
import { Invitations } from "../ui/invitations";
import { Markdown } from "../ui/lazy";
import { Action, Heading, Items, Listed, Loaded, Tag } from "../ui/show";
import { say } from "../ui/status";

const path = "/v1/organizers/{organizerId}";
const fields = (o: Schemas["Organizer"]): Values => ({ name: o.name, description: o.description, website: o.website });
const About = ({ f }: { f: Editing }) => (
  <>
    <Text f={f} name="name" label="Name" required max={200} hint="Your lab, or the workshop that you run tasks for." />
    <Area f={f} name="description" label="Description" hint="Markdown." />
    <Text f={f} name="website" type="url" label="Website" max={500} />
  </>
);

export default function OrganizerScreen({ params }: Screen) {
  return <One organizerId={params["organizerId"]!} />;
}

function One({ organizerId }: { organizerId: string }) {
  const ids = { organizerId };
  const me = useMe();
  const organizer = useGet(path, { path: ids });
  const tasks = useList("/v1/tasks", { query: { "filter[organizerId]": [organizerId] } });
  const mine = me?.memberships.find(m => m.organizerId === organizerId);
  const member = Boolean(mine) || isAdmin(me), owner = mine?.role === "owner" || isAdmin(me);
  return (
    <Loaded of={organizer} title="Organizer">
      {o => (
        <>
          <Heading title={o.name}><bdi>{o.name}</bdi></Heading>
          {o.description && <Markdown source={o.description} />}
          {o.website && <p><a href={o.website} rel="nofollow noopener">Website</a></p>}
          {member && <p class="actions"><a class="button" href={`#/tasks/new?organizer=${organizerId}`}>New task</a><a href={`#/organizers/${organizerId}/webhooks`}>Webhooks</a><a href={`#/organizers/${organizerId}/audit`}>Audit trail</a></p>}
          <h2>Tasks</h2>
          <Listed of={tasks} empty={<p>None yet.</p>}>
            {t => <><a href={`#/tasks/${t.id}`}><bdi>{t.name}</bdi></a>{t.visibility === "private" && <Tag kind="warm">private</Tag>}</>}
          </Listed>
          {member && <><h2>Members</h2><Members ids={ids} owner={owner} me={me!.id} /></>}
          {owner && <><h2>Invitations</h2><Invitations to={ids} what="a member" /></>}
          {member && <Edit of={o} ids={ids} owner={owner} changed={() => organizer.mutate()} />}
        </>
      )}
    </Loaded>
  );
}

type Organizer = Schemas["Organizer"];

function Edit({ of: o, ids, owner, changed }: { of: Organizer; ids: { organizerId: string }; owner: boolean; changed: () => Promise<Organizer | undefined> }) {
  const { newest, latest } = useNewest(o, changed);
  return (
    <>
      <h2>About the organizer</h2>
      <Form name={`organizer ${o.id}`} initial={fields(o)} latest={async () => fields(await latest())}
        submit={(v, base) => done(patch(path, ids, mergePatch(base, v), newest.current), "Saved.")}>{f => <About f={f} />}</Form>
      {owner && (
        <details>
          <summary>Delete the organizer</summary>
          <p>That is possible while it has no task, and cannot be undone.</p>
          <Action plain run={async () => {
            await remove(path, ids);
            say(`${o.name} is deleted.`);
            go("/?show=mine");
          }}>Delete the organizer</Action>
        </details>
      )}
    </>
  );
}

function Members({ ids, owner, me }: { ids: { organizerId: string }; owner: boolean; me: string }) {
  const all = useList(`${path}/members`, { path: ids });
  // Owners are a list of the organizer, which a merge patch replaces.
  const set = async (userId: string, to: boolean): Promise<void> => {
    const o = await read(path, { path: ids });
    await patch(path, ids, { owners: to ? [...(o.owners ?? []), userId] : (o.owners ?? []).filter(x => x !== userId) }, o);
  };
  const own = (userId: string, to: boolean): Promise<void> =>
    done(set(userId, to), to ? "They are an owner now." : "They are an editor now.", () => set(userId, !to));
  return (
    <Items of={all} empty={<p>None.</p>}>
      {items => (
        <ul class="rows">
          {items.map(m => {
            const name = m.name || m.email || m.id;
            return (
              <li key={m.id}>
                <span><bdi>{name}</bdi> <Tag>{m.role}</Tag> {m.name && <span class="small quiet"><bdi>{m.email}</bdi></span>}</span>
                {owner && <Action plain label={`Make ${m.role === "owner" ? "editor" : "owner"}: ${name}`} run={() => own(m.id, m.role !== "owner")}>{m.role === "owner" ? "Make editor" : "Make owner"}</Action>}
                {(owner || m.id === me) && <Action plain label={m.id === me ? "Leave the organizer" : `Remove ${name}`} run={async () => {
                  await done(remove(`${path}/members/{userId}`, { ...ids, userId: m.id }),
                    m.id === me ? "You have left." : `${name} is no longer a member.`);
                }}>{m.id === me ? "Leave" : "Remove"}</Action>}
              </li>
            );
          })}
        </ul>
      )}
    </Items>
  );
}


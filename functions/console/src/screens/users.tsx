// The users of the platform, for administrators: usage, access tokens and deletion.

import { patch, remove, type Schemas } from "../api";
import { done, useGet, useList, useNewest } from "../data";
import { personOf } from "../known_names";
import { separate } from "../member_names";
import { go, type Screen, view } from "../route";
import { DeleteAccount } from "../ui/delete";
import { Whole } from "../ui/fields";
import { Form } from "../ui/form";
import { Heading, Listed, Loaded, Tag } from "../ui/show";
import { member, mergePatch, type Values, withMember } from "../ui/values";
import { Usage } from "./admin";
import { TokenList } from "./me";

export default ({ params, query }: Screen) => (params.userId ? <One userId={params.userId} /> : <All query={query} />);

function All({ query }: { query: URLSearchParams }) {
  const name = query.get("name") ?? "";
  const all = useList("/v1/users", { query: { ...(name && { "filter[name]": [name] }) } }, { keepPreviousData: true });
  return (
    <>
      <Heading title="Users">Users</Heading>
      <p class="tabs">
        <a href="#/admin">Platform</a>{" "}
        <a href="#/admin/users" aria-current="page">
          Users
        </a>
      </p>
      <p class="field">
        <label for="name">Search by name</label>
        <input id="name" type="search" value={name} onInput={e => view(query, { name: e.currentTarget.value })} />
      </p>
      <Listed of={all} empty={<p>No user has this name.</p>}>
        {u => (
          <>
            <a href={`#/admin/users/${u.id}`}>
              <bdi>{nameOf(u)}</bdi>
            </a>
            <span class="small quiet">
              <bdi>{u.email}</bdi>
            </span>
          </>
        )}
      </Listed>
    </>
  );
}

const nameOf = (u: Schemas["Profile"]): string => personOf(u);

function One({ userId }: { userId: string }) {
  const user = useGet("/v1/users/{userId}", { path: { userId } });
  const tokens = useList("/v1/users/{userId}/tokens", { path: { userId } });
  return (
    <Loaded of={user} title="User">
      {u => (
        <>
          <p class="small">
            <a href="#/admin/users">Users</a>
          </p>
          <Heading title={nameOf(u)}>
            <bdi>{nameOf(u)}</bdi>
          </Heading>
          <p>
            <bdi>{u.email}</bdi> <code>{u.id}</code> {u.deleting && <Tag kind="warm">being deleted</Tag>}
          </p>
          <h2>Usage</h2>
          {u.taken && <Usage taken={u.taken} limits={u.limits} />}
          <Limits of={u} saved={user.mutate} />
          <h2>Access tokens</h2>
          <TokenList
            of={tokens}
            revoke={tokenId => remove("/v1/users/{userId}/tokens/{tokenId}", { userId, tokenId })}
          />
          <DeleteAccount
            title="Delete the user"
            about="First have your sign-in provider refuse the account, or they come back as a new user."
            run={() =>
              done(
                remove("/v1/users/{userId}", { userId }).then(() => go("/admin/users")),
                `${nameOf(u)} is being deleted.`,
              )
            }
          />
        </>
      )}
    </Loaded>
  );
}

type Profile = Schemas["Profile"];
const megabyte = 1e6;
const inBytes = ["quota/storedBytes", "quota/pendingBytes"];

/** scaled returns a copy with the sizes in another unit. */
const scaled = (of: Values, factor: number): Values =>
  inBytes.reduce((values, name) => {
    const size = member(values, name);
    return typeof size === "number" ? withMember(values, name, Math.ceil(size * factor)) : values;
  }, of);

/** Limits edits the limits of one user that replace the defaults of the server. */
function Limits({ of: u, saved }: { of: Profile; saved: () => Promise<Profile | undefined> }) {
  const { newest, latest } = useNewest(u, saved);
  const fields = (p: Profile): Values => scaled({ quota: p.quota ?? {} }, 1 / megabyte);
  const change = (from: Values, to: Values, of?: Profile): Promise<unknown> =>
    patch("/v1/users/{userId}", { userId: u.id }, mergePatch(scaled(from, megabyte), scaled(to, megabyte)), of);
  return (
    <details>
      <summary>Change the limits of this user</summary>
      <p>
        An empty field keeps the limit of all users, and 0 means no limit. A limit below the present usage deletes
        nothing.
      </p>
      <Form
        name={`limits ${u.id}`}
        initial={fields(u)}
        latest={async () => fields(await latest())}
        submit={(values, base) =>
          done(change(base, values, newest.current), "The limits are changed.", () => change(values, base))
        }
      >
        {f => (
          <>
            <Whole f={f} name="quota/storedBytes" label="Stored (MB)" />
            <Whole f={f} name="quota/pendingBytes" label="Announced, not uploaded (MB)" />
            <Whole f={f} name="quota/pendingFiles" label="Files announced" />
            {Object.keys(u.limits?.perDay ?? {}).map(k => (
              <Whole key={k} f={f} name={`quota/perDay/${k}`} label={`New ${separate(k)} in 24 hours`} />
            ))}
          </>
        )}
      </Form>
    </details>
  );
}

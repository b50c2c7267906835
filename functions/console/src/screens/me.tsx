// The account of the reader: memberships, access tokens, notifications, and the deletion of the account.

import { Fragment } from "preact";
import useSWR from "swr";
import { patch, post, remove, type Schemas } from "../api";
import { done, type Listing, read, useGet, useList } from "../data";
import { lostWithAccount } from "../deletion_words";
import { eventLabels } from "../event_labels";
import { personOf } from "../known_names";
import { useMail } from "../mail";
import type { Me } from "../roles";
import type { Screen } from "../route";
import { signOut, useSession } from "../session";
import { DeleteAccount } from "../ui/delete";
import { Checks, Choice, Text, Whole } from "../ui/fields";
import { Form } from "../ui/form";
import { useMade } from "../ui/made";
import { Action, Busy, Code, Heading, Listed, Loaded, Tag } from "../ui/show";
import { SignIn } from "../ui/sign_in_form";
import { When } from "../ui/time";
import type { Values } from "../ui/values";

export default function MeScreen(_: Screen) {
  const { signedIn } = useSession();
  const me = useGet(signedIn ? "/v1/user" : null, {});
  if (!signedIn)
    return (
      <>
        <Heading title="Sign in">Sign in</Heading>
        <SignIn />
      </>
    );
  return (
    <Loaded of={me}>
      {u => (
        <>
          <Heading title="You">
            <bdi>{personOf(u)}</bdi>
          </Heading>
          <Profile of={u} />
          <h2 id="terminal">For the terminal</h2>
          <Tokens admin={u.roles.includes("admin")} />
          <h2>E-mails</h2>
          <Choices address={u.email} />
          <h2>Leave</h2>
          <Leave of={u} />
        </>
      )}
    </Loaded>
  );
}

/** useOwnedAlone returns the organizers whose only owner the user is. */
function useOwnedAlone(u: Me): Schemas["Organizer"][] | undefined {
  const owned = u.memberships.filter(m => m.role === "owner").map(m => m.organizerId);
  const { data } = useSWR(["owned", owned], () =>
    Promise.all(owned.map(organizerId => read("/v1/organizers/{organizerId}", { path: { organizerId } }))),
  );
  return data?.filter(o => o.owners?.length === 1);
}

/** Leave deletes the account, unless an organizer would have no owner then. */
function Leave({ of: u }: { of: Me }) {
  const alone = useOwnedAlone(u);
  if (!alone) return <Busy />;
  if (alone.length > 0)
    return (
      <p>
        Your account cannot be deleted while you are the only owner of{" "}
        {alone.map((o, i) => (
          <Fragment key={o.id}>
            {i > 0 && ", "}
            <a href={`#/organizers/${o.id}`}>
              <bdi>{o.name}</bdi>
            </a>
          </Fragment>
        ))}
        . Make another member an owner first, or delete the organizer.
      </p>
    );
  return (
    <DeleteAccount
      title="Delete my account"
      run={() => remove("/v1/user", {}, { id: u.id }).then(signOut)}
      about={lostWithAccount}
    />
  );
}

const standings = {
  accepted: "",
  pending: ", which waits for the organizers",
  rejected: ", which the organizers rejected",
};

const Profile = ({ of: u }: { of: Me }) => (
  <dl class="members">
    <dt>E-mail</dt>
    <dd>{u.email || u.emailNotice}</dd>
    <dt>Your id</dt>
    <dd>
      <code>{u.id}</code>
    </dd>
    {u.roles.length > 0 && (
      <>
        <dt>Roles</dt>
        <dd>
          {u.roles.map(r => (
            <Tag key={r}>{r}</Tag>
          ))}
        </dd>
      </>
    )}
    <dt>Organizers</dt>
    <dd>
      {u.memberships.length === 0 ? (
        <a href="#/organizers/new">Create an organizer</a>
      ) : (
        u.memberships.map(m => (
          <span key={m.organizerId}>
            <a href={`#/organizers/${m.organizerId}`}>
              <bdi>{m.organizerName ?? "Organizer"}</bdi>
            </a>{" "}
            ({m.role})<br />
          </span>
        ))
      )}
    </dd>
    <dt>Teams</dt>
    <dd>
      {u.registrations.length === 0 ? (
        <a href="#/?show=open">Choose a task</a>
      ) : (
        u.registrations.map(r => (
          <span key={r.registrationId}>
            <a href={`#/tasks/${r.taskId}/team`}>
              <bdi>{r.team}</bdi>
            </a>{" "}
            in <bdi>{r.taskName ?? "a task that you no longer see"}</bdi>
            {standings[r.state]}
            <br />
          </span>
        ))
      )}
    </dd>
    <dt>Trash</dt>
    <dd>
      <a href="#/trash">Trash</a>
    </dd>
  </dl>
);

const scopes = {
  read: "read what you see",
  submit: "read, and take part in tasks",
  organize: "read, take part, and act for your organizers",
  work: "lease runs as a worker",
};

/** TokenList shows the access tokens of the reader or of another user. */
export const TokenList = ({
  of,
  revoke,
}: {
  of: Listing<Schemas["AccessToken"]>;
  revoke: (tokenId: string) => Promise<unknown>;
}) => (
  <Listed of={of} empty={<p>There is no access token.</p>}>
    {t => (
      <>
        <span>
          <bdi>{t.name}</bdi> <Tag>{t.scopes.join(", ")}</Tag>{" "}
          <span class="small quiet">
            {t.expiresAt && (
              <>
                {Date.parse(t.expiresAt) > Date.now() ? "until" : "expired"} <When at={t.expiresAt} />,{" "}
              </>
            )}
            {t.lastUsedOn ? `last changed something on ${t.lastUsedOn}` : "has changed nothing yet"}
          </span>
        </span>
        <Action
          plain
          label={`Revoke ${t.name}`}
          ask="Programs that use it stop working within 10 seconds."
          run={() => done(revoke(t.id), `The server refuses ${t.name} within 10 seconds.`)}
        >
          Revoke
        </Action>
      </>
    )}
  </Listed>
);

function Tokens({ admin }: { admin: boolean }) {
  const all = useList("/v1/user/tokens", {});
  const [made, show] = useMade<Schemas["NewToken"]>(all);
  const make = async (v: Values): Promise<void> => {
    const pools = String(v.pools ?? "")
      .split(/[\s,]+/)
      .filter(Boolean);
    const token = post(
      "/v1/user/tokens",
      {},
      {
        name: v.name,
        scopes: [v.scope],
        expiresAt: new Date(Date.now() + Number(v.days) * 86_400_000).toISOString(),
        ...(pools.length > 0 && { pools }),
      },
    );
    await done(token, "The token is made.");
    await show(await token);
  };
  const revoke = (tokenId: string): Promise<unknown> => remove("/v1/user/tokens/{tokenId}", { tokenId });
  return (
    <>
      <p>Scripts, CI and workers act for you by access tokens, each for one purpose, and no longer than it lasts.</p>
      {made?.secret && (
        <div class="notice" role="status">
          <p>
            The secret of <bdi>{made.name}</bdi> is shown this once. Anyone who has it acts as you.
          </p>
          <Code label="Lines for the terminal">{`export ASSAY_URL=${location.origin}\nexport ASSAY_TOKEN=${made.secret}`}</Code>
        </div>
      )}
      <TokenList of={all} revoke={revoke} />
      <Form
        name="token"
        initial={{ name: "terminal", scope: "submit", days: 90 }}
        button="Make an access token"
        submit={make}
      >
        {f => (
          <>
            <Text f={f} name="name" label="Purpose" required max={200} />
            <Choice f={f} name="scope" label="It may" options={scopes} />
            <Whole f={f} name="days" label="Days" min={1} max={365} required />
            {f.values.scope === "work" && (
              <Text
                f={f}
                name="pools"
                label="Pools"
                hint={admin ? "Left out: all pools." : "Those of your organizers, separated by commas."}
              />
            )}
          </>
        )}
      </Form>
    </>
  );
}

function sentTo(mail: boolean | undefined, address: string): string {
  if (mail === undefined) return "";
  if (!mail) return "This server sends no e-mail. What you choose counts once it does.";
  return address && `E-mail goes to ${address}.`;
}

function Choices({ address }: { address: string }) {
  const mail = useMail();
  const choices = useGet("/v1/user/notifications", {});
  return (
    <Loaded of={choices}>
      {c => (
        <Form
          name="notifications"
          initial={{ email: c.email }}
          submit={v => done(patch("/v1/user/notifications", {}, { email: v.email }), "Saved.")}
        >
          {f => (
            <Checks
              f={f}
              name="email"
              label="Send me an e-mail when"
              options={{ ...eventLabels, "token.expiring": "An access token of yours ends soon" }}
              hint={sentTo(mail, address) || c.notice || ""}
            />
          )}
        </Form>
      )}
    </Loaded>
  );
}

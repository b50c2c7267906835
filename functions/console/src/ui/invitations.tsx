// Making, listing and withdrawing invitations to an organizer, a task or a team.
import type { ComponentChildren } from "preact";
import { post, remove, type Schemas } from "../api";
import { done, useList } from "../data";
import { useMail } from "../mail";
import { Choice, Instant, Text, Whole } from "./fields";
import { Form } from "./form";
import { useMade } from "./made";
import { Action, Code, Listed } from "./show";
import { moment, When } from "./time";
import { filled } from "./values";

type To = { organizerId: string } | { taskId: string; registrationId?: string };

const roles = {
  editor: "Editor: runs the tasks, and changes the name, website, description and webhooks of the organizer",
  owner: "Owner: also invites, decides on members and owners, and can delete the organizer",
};

function pathOf(to: To) {
  if ("organizerId" in to) return "/v1/organizers/{organizerId}/invitations";
  if (to.registrationId !== undefined) return "/v1/tasks/{taskId}/registrations/{registrationId}/invitations";
  return "/v1/tasks/{taskId}/invitations";
}

type Props = {
  to: To;
  what: string;
  notice?: ComponentChildren;
  closed?: boolean | undefined;
};

/**
 * Invitations makes, lists and withdraws invitations. notice says what users who join cannot do. If closed, invitations
 * admit nobody, as notice says, and none is made.
 */
export function Invitations({ to, what, notice, closed }: Props) {
  const path = pathOf(to);
  const mail = useMail();
  const ids = to as unknown as Record<string, string>;
  const all = useList(path as "/v1/tasks/{taskId}/invitations", { path: ids as { taskId: string } });
  const [made, show] = useMade<Schemas["NewInvitation"]>(all);
  const invite = async (values: object): Promise<void> => show(await post(path, ids, values));
  const withdraw = (invitationId: string): Promise<void> =>
    done(
      remove(`${path}/{invitationId}` as "/v1/tasks/{taskId}/invitations/{invitationId}", { ...ids, invitationId }),
      "The invitation no longer works.",
    );
  return (
    <>
      {notice}
      {made?.link && !closed && (
        <div class="notice" role="status">
          <p>
            {made.email && mail ? (
              <>
                An e-mail with this link goes to <bdi>{made.email}</bdi>.
              </>
            ) : (
              "Hand this link over to those whom you invite: nothing was sent."
            )}{" "}
            It is shown this once.
          </p>
          <Code label="Invitation link">{new URL(made.link, location.origin).href}</Code>
        </div>
      )}
      <Listed of={all} empty={<p>No invitation is open.</p>}>
        {i => (
          <>
            <span>
              {i.email ? <bdi>{i.email}</bdi> : "A link"}
              {i.role && `, as ${i.role}`}
              {i.uses !== undefined && `, for ${i.uses} more`}
              {i.expiresAt && (
                <>
                  , until <When at={i.expiresAt} />
                </>
              )}
            </span>
            <Action
              plain
              label={`Withdraw the invitation ${i.email ?? `of ${moment(i.createdAt)}`}`}
              ask="Nobody can join by it then."
              run={() => withdraw(i.id)}
            >
              Withdraw
            </Action>
          </>
        )}
      </Listed>
      {!closed && (
        <details open={all.items?.length === 0}>
          <summary>Invite {what}</summary>
          <Form
            name={`invitation ${Object.values(ids).join(" ")}`}
            initial={"organizerId" in to ? { role: "editor" } : {}}
            button="Make a link"
            submit={v => invite(filled(v))}
          >
            {f => (
              <>
                {mail && (
                  <Text
                    f={f}
                    name="email"
                    type="email"
                    label="E-mail address"
                    hint="The link is sent there, and works once, for anyone who has it. Without an address you hand it over yourself."
                  />
                )}
                {mail === false && <p>This server sends no e-mail: you get a link, and hand it over yourself.</p>}
                {"organizerId" in to && <Choice f={f} name="role" label="Role" options={roles} />}
                <Whole
                  f={f}
                  name="uses"
                  label="How many may join by it"
                  min={1}
                  max={500}
                  hint="One, if you leave it out."
                />
                <Instant f={f} name="expiresAt" label="Works until" hint="At most 90 days; left out, 14." />
              </>
            )}
          </Form>
        </details>
      )}
    </>
  );
}

type OfTeam = {
  of: Pick<Schemas["Registration"], "taskId" | "id" | "state" | "closedAt">;
  task: Schemas["Task"];
  /** organizes says that the reader is an organizer of the task, who can accept the team. */
  organizes?: boolean;
};

/** TeamInvitations has the invitations to a team, and says what the state of the team means for them. */
export function TeamInvitations({ of: r, task, organizes }: OfTeam) {
  const at = r.closedAt;
  return (
    <Invitations
      to={{ taskId: r.taskId, registrationId: r.id }}
      what="a member"
      closed={r.state === "rejected" || at !== undefined}
      notice={
        <>
          {r.state === "rejected" && (
            <p class="notice">The team is rejected, so a link admits nobody. Accept the team first.</p>
          )}
          {r.state === "pending" && (
            <p class="notice">
              {organizes
                ? "The team and those who join it take part once you accept the team."
                : "Your team and those who join it take part once the organizers accept the team."}
            </p>
          )}
          {at && (
            <p class="notice">
              Submitting, and joining the team, closed <When at={at} />. A link admits nobody unless the organizers move
              a close or give the team a later one.
            </p>
          )}
          {organizes && task.registration?.mode === "closed" && r.state !== "rejected" && !at && (
            <p class="small quiet">Teams join by invitation of organizers: links of the team's owner admit nobody.</p>
          )}
        </>
      }
    />
  );
}

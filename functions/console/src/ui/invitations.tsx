// Making, listing and withdrawing invitations to an organizer, a task or a team.
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
  editor: "Editor: changes and deletes tasks, and changes the description of the organizer",
  owner: "Owner: also changes the members, and can delete the organizer",
};

function pathOf(to: To) {
  if ("organizerId" in to) return "/v1/organizers/{organizerId}/invitations";
  if (to.registrationId !== undefined) return "/v1/tasks/{taskId}/registrations/{registrationId}/invitations";
  return "/v1/tasks/{taskId}/invitations";
}

type Props = { to: To; what: string; closedAt?: string | undefined };

/** Invitations makes, lists and withdraws invitations. After closedAt none admits anybody, and none is made. */
export function Invitations({ to, what, closedAt }: Props) {
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
      {closedAt && (
        <p class="notice">
          Joining the team closed <When at={closedAt} />. A link admits nobody unless the organizers give the team a
          later close of all datasets.
        </p>
      )}
      {made?.link && !closedAt && (
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
      {!closedAt && (
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
                {mail ? (
                  <Text
                    f={f}
                    name="email"
                    type="email"
                    label="E-mail address"
                    hint="The link is sent there, and works once, for anyone who has it. Without an address you hand it over yourself."
                  />
                ) : (
                  <p>This server sends no e-mail: you get a link, and hand it over yourself.</p>
                )}
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

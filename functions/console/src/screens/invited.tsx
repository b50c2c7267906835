// An invitation: its organizer, task or team and the terms, before the reader joins.
import { flushSync } from "preact/compat";
import { useState } from "preact/hooks";
import { patch, post, type Schemas } from "../api";
import { useOffer } from "../data";
import { refresh } from "../refresh";
import { go } from "../route";
import { useSession } from "../session";
import { withNewTerms } from "../terms";
import { Form } from "../ui/form";
import { TeamFields, TermsField } from "../ui/registration_fields";
import { Heading, Loaded } from "../ui/show";
import { SignIn } from "../ui/sign_in_form";
import { say } from "../ui/status";
import { When } from "../ui/time";
import { filled, type Values } from "../ui/values";

type Offer = Schemas["Membership"];

export default function Invited() {
  const secret = sessionStorage.getItem("invitation");
  const { signedIn } = useSession();
  return (
    <>
      <Heading title="Invitation">You are invited</Heading>
      {!secret && <p class="empty">Open the link of your invitation again: this tab no longer has it.</p>}
      {secret && signedIn && <Accept secret={secret} />}
      {secret && !signedIn && (
        <>
          <p>Sign in to see the invitation. You come back to this page.</p>
          <SignIn after="#/join" />
        </>
      )}
    </>
  );
}

function Accept({ secret }: { secret: string }) {
  const [used, setUsed] = useState(false); // A used invitation is not read again with the screen: the server would refuse it.
  const offered = useOffer(used ? null : secret);
  return (
    <Loaded of={offered}>
      {offer => <Join secret={secret} offer={offer} look={offered.mutate} end={() => flushSync(() => setUsed(true))} />}
    </Loaded>
  );
}

type Joining = { secret: string; offer: Offer; look: () => Promise<unknown>; end: () => void };

function Join({ secret, offer, look, end }: Joining) {
  const join = async (values: Values): Promise<void> => {
    const newTeam = offer.taskId && !offer.team;
    const registration = newTeam ? { registration: filled(values) } : {};
    const joined = await withNewTerms(post("/v1/user/memberships", {}, { secret, ...registration }), look);
    if (offer.team && values.acceptedTerms) await accept(joined, values.acceptedTerms as number);
    sessionStorage.removeItem("invitation");
    end();
    await refresh();
    say("You have joined.");
    go(joined.taskId ? `/tasks/${joined.taskId}/team` : `/organizers/${joined.organizerId}`);
  };
  return (
    <>
      <p class="lead">
        <Said of={offer} />
      </p>
      {offer.closedAt && (
        <p class="notice">
          The task has closed for submissions <When at={offer.closedAt} />. A team that registers now can submit only if
          the organizers set a later close.
        </p>
      )}
      <Form
        key={offer.taskId ?? offer.organizerId}
        name={`invitation ${offer.taskId ?? offer.organizerId}`}
        initial={{}}
        button="Join"
        submit={join}
      >
        {f => (
          <>
            {offer.taskName && !offer.team && <TeamFields f={f} />}
            <TermsField f={f} terms={offer.terms} />
          </>
        )}
      </Form>
    </>
  );
}

/**
 * accept accepts terms of the task for the team that the reader has joined. If that fails, the reader has joined all the
 * same, and the page of the team asks for the terms again.
 */
const accept = ({ taskId = "", registrationId = "" }: Offer, acceptedTerms: number): Promise<unknown> =>
  patch("/v1/tasks/{taskId}/registrations/{registrationId}", { taskId, registrationId }, { acceptedTerms }).catch(
    () => undefined,
  );

function Said({ of: offer }: { of: Offer }) {
  if (!offer.taskName)
    return (
      <>
        You are invited to be an {offer.role} of the organizer <bdi>{offer.organizerName}</bdi>.
      </>
    );
  if (offer.team)
    return (
      <>
        You are invited to the team <bdi>{offer.team}</bdi>, which{" "}
        {offer.state === "accepted" ? "takes part" : "has asked to take part"} in the task <bdi>{offer.taskName}</bdi>{" "}
        of <bdi>{offer.organizerName}</bdi>.
        {offer.state !== "accepted" && " It takes part once the organizers accept it."}
      </>
    );
  return (
    <>
      You are invited to take part in the task <bdi>{offer.taskName}</bdi> of <bdi>{offer.organizerName}</bdi>, with a
      team of yours.
    </>
  );
}

// Taking part in a task: the registration of a new team.
import { post } from "../api";
import { useMail } from "../mail";
import { refresh } from "../refresh";
import { endedIn, organizes, registrationIn } from "../roles";
import { go, type Screen } from "../route";
import { closedForTeams, registers } from "../stage";
import { useStages } from "../task_stages";
import { withNewTerms } from "../terms";
import { Ended } from "../ui/ended";
import { Form } from "../ui/form";
import { TeamFields, TermsField } from "../ui/registration_fields";
import { SignIn } from "../ui/sign_in_form";
import { say } from "../ui/status";
import { NotNow } from "../ui/take_part";
import { type OfTask, TaskFrame } from "../ui/task_nav";
import { filled } from "../ui/values";

export default ({ params }: Screen) => (
  <TaskFrame taskId={params.taskId!} title="Take part" at="/join">
    {of => <Register {...of} />}
  </TaskFrame>
);

const registered = {
  accepted: "You take part already in the team",
  pending: "The organizers decide about your team",
  rejected: "The organizers rejected your team",
};

function Register({ task, me }: OfTask) {
  const mail = useMail();
  const past = useStages([task])?.(task).stage === "past";
  if (!me)
    return (
      <>
        {!registers(task) && (
          <p class="empty">
            <NotNow task={task} />
          </p>
        )}
        <p>Sign in to take part. You come back to this page.</p>
        <SignIn />
      </>
    );
  const mine = registrationIn(me, task.id);
  if (mine)
    return (
      <p class="notice">
        {registered[mine.state]}{" "}
        <a href={`#/tasks/${task.id}/team`}>
          <bdi>{mine.team}</bdi>
        </a>
        .
      </p>
    );
  const ended = endedIn(me, task.id);
  const organizer = organizes(me, task.organizerId); // Their own teams take part at once, at any time.
  if (!organizer && !registers(task))
    return (
      <>
        {ended && <Ended of={ended} />}
        <p class="empty">
          <NotNow task={task} />
        </p>
      </>
    );
  const join = async (values: object): Promise<void> => {
    const made = await withNewTerms(
      post("/v1/tasks/{taskId}/registrations", { taskId: task.id }, filled(values as Record<string, unknown>)),
      refresh,
    );
    await refresh();
    say(
      made.state === "accepted"
        ? "Your team takes part."
        : `The organizers decide about your team: this page says so once they have${mail ? ", and so does an e-mail" : ""}.`,
    );
    go(`/tasks/${task.id}/team`);
  };
  return (
    <>
      {ended && <Ended of={ended} />}
      <p class="lead">
        {task.registration?.mode === "approval" && !organizer
          ? "The organizers decide about each team: its page says so once they have."
          : "You take part at once."}{" "}
        {!past && "Others join your team by a link that you send them afterwards."}
      </p>
      {past && <p class="notice">{closedForTeams}</p>}
      <Form name={`registration ${task.id}`} initial={{ team: "" }} button="Take part" submit={join}>
        {f => (
          <>
            <TeamFields f={f} />
            <TermsField f={f} terms={task.terms} />
          </>
        )}
      </Form>
    </>
  );
}

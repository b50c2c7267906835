// The form of a new task. It asks only for the name; the editor of the task follows.
import { post } from "../api";
import { refresh } from "../refresh";
import { useMe } from "../roles";
import { go, type Screen } from "../route";
import { useSession } from "../session";
import { Choice, Text } from "../ui/fields";
import { Form } from "../ui/form";
import { MarkdownField } from "../ui/markdown_field";
import { Busy, Heading } from "../ui/show";
import { SignIn } from "../ui/sign_in_form";
import { filled, type Values } from "../ui/values";

export default function NewTask({ query }: Screen) {
  const { signedIn } = useSession();
  const me = useMe();
  const make = async (v: Values): Promise<void> => {
    const { id } = await post(
      "/v1/tasks",
      {},
      filled({ ...v, visibility: "private", submissions: { types: ["upload"] } }),
    );
    await refresh();
    go(`/tasks/${id}/edit`);
  };
  const organizers = Object.fromEntries(
    me?.memberships.map(m => [m.organizerId, m.organizerName ?? "Organizer"]) ?? [],
  );
  const organizerId = query.get("organizer") ?? me?.memberships[0]?.organizerId;
  return (
    <>
      <Heading title="New task">New task</Heading>
      {!signedIn && <SignIn />}
      {signedIn && !me && <Busy />}
      {signedIn && me && !organizerId && (
        <p class="empty">
          A task belongs to an organizer. <a href="#/organizers/new">Name yours first</a>: your lab, or the workshop
          that you run it for.
        </p>
      )}
      {signedIn && organizerId && me && (
        <>
          <p class="lead">
            It starts private: only its organizers and the teams that they accept see it until you publish it. All can
            be changed later.
          </p>
          <Form name="new task" initial={{ organizerId }} button="Create, and go on to edit it" submit={make}>
            {f => (
              <>
                {Object.keys(organizers).length > 1 && (
                  <Choice f={f} name="organizerId" label="Organizer" options={organizers} />
                )}
                <Text
                  f={f}
                  name="name"
                  label="Name"
                  required
                  max={200}
                  hint="Such as Conversational passage retrieval."
                />
                <MarkdownField
                  f={f}
                  top={2}
                  name="description"
                  label="Description"
                  hint="What is the problem, what do participants get, and what do they submit?"
                />
              </>
            )}
          </Form>
        </>
      )}
    </>
  );
}

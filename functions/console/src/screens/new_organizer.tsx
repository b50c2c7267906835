// The form of a new organizer, the first step to a task.
import { post } from "../api";
import { refresh } from "../refresh";
import { go } from "../route";
import { useSession } from "../session";
import { Text } from "../ui/fields";
import { type Editing, Form } from "../ui/form";
import { MarkdownField } from "../ui/markdown_field";
import { Heading } from "../ui/show";
import { SignIn } from "../ui/sign_in_form";
import { filled, type Values } from "../ui/values";

export const OrganizerFields = ({ f }: { f: Editing }) => (
  <>
    <Text f={f} name="name" label="Name" required max={200} hint="Such as Lakeside Information Retrieval Lab." />
    <Text f={f} name="website" type="url" label="Website" max={500} />
    <MarkdownField f={f} top={2} name="description" label="Description" rows={3} />
  </>
);

export default function NewOrganizer() {
  const { signedIn } = useSession();
  const make = async (v: Values): Promise<void> => {
    const { id } = await post("/v1/organizers", {}, filled(v));
    await refresh();
    go(`/tasks/new?organizer=${id}`);
  };
  return (
    <>
      <Heading title="New organizer">New organizer</Heading>
      <p class="lead">
        Tasks belong to an organizer: your lab, or the workshop that you run them for. Others can join it later.
      </p>
      {signedIn ? (
        <Form name="new organizer" initial={{}} button="Create, and go on to the task" submit={make}>
          {f => <OrganizerFields f={f} />}
        </Form>
      ) : (
        <SignIn />
      )}
    </>
  );
}

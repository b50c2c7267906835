// The terms of a task that a team has not accepted yet.
import { patch, type Schemas } from "../api";
import { done } from "../data";
import { refresh } from "../refresh";
import { asksForTerms, termsNotice, withNewTerms } from "../terms";
import { Form } from "./form";
import { TermsField } from "./registration_fields";

type Props = { task: Schemas["Task"]; of: Pick<Schemas["Registration"], "id" | "state" | "acceptedTerms" | "quota"> };

/** ChangedTerms asks a team to accept the present terms, unless it has accepted them. */
export const ChangedTerms = ({ task, of: r }: Props) =>
  asksForTerms({ task, of: r }) ? (
    <section class="notice" aria-label="Changed terms">
      <p>{termsNotice(r)}</p>
      <Form
        name={`terms ${r.id}`}
        initial={{}}
        button="Accept"
        submit={v =>
          withNewTerms(
            done(
              patch("/v1/tasks/{taskId}/registrations/{registrationId}", { taskId: task.id, registrationId: r.id }, v),
              "Accepted.",
            ),
            refresh,
          )
        }
      >
        {f => <TermsField f={f} terms={task.terms} />}
      </Form>
    </section>
  ) : null;

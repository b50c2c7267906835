// The announcements of a task, for its organizers.
import { patch, post, remove, type Schemas } from "../api";
import { done, read, useList } from "../data";
import { count } from "../plural";
import { teamsIn } from "../teams";
import { Announcement } from "../ui/announcement";
import { Area, Text } from "../ui/fields";
import { Form } from "../ui/form";
import { Action, Items } from "../ui/show";
import { mergePatch } from "../ui/values";

/** mailed counts the teams whose members an announcement reaches by e-mail. nobody says why no e-mail is sent. */
async function mailed(taskId: string): Promise<{ teams: number; nobody?: string }> {
  const [{ mail }, { length: teams }] = await Promise.all([read("/info", {}), teamsIn(taskId, "accepted")]);
  if (!mail) return { teams, nobody: "this server sends none" };
  return teams === 0 ? { teams, nobody: "no team takes part" } : { teams };
}

/** Announcements lists the announcements of a task, and has the forms to make and change them. */
export function Announcements({ taskId }: { taskId: string }) {
  const all = useList("/v1/tasks/{taskId}/announcements", { path: { taskId } });
  const one = "/v1/tasks/{taskId}/announcements/{announcementId}";
  const fields = (f: Parameters<Parameters<typeof Form>[0]["children"]>[0]) => (
    <>
      <Text f={f} name="title" label="Title" required max={200} />
      <Area f={f} name="body" label="Text" hint="Markdown." />
    </>
  );
  const drop = (a: Schemas["Announcement"]): Promise<void> =>
    done(
      remove(one, { taskId, announcementId: a.id }),
      "The announcement is deleted. E-mails that were sent stay sent.",
    );
  const told = async (): Promise<Schemas["Effect"][]> => {
    const subject = `/v1/tasks/${taskId}/announcements`;
    const { teams, nobody } = await mailed(taskId);
    return [
      { kind: "audience", subject, detail: "Everyone who sees the task reads it on the page of the task" },
      {
        kind: "news",
        subject,
        detail: nobody
          ? `Nobody gets an e-mail: ${nobody}`
          : `Those members of ${count(teams, "team")} who want such e-mails get it by e-mail`,
      },
    ];
  };
  return (
    <>
      <Form
        name={`announcement ${taskId}`}
        initial={{}}
        button="Announce"
        preview={told}
        submit={async v => {
          const { nobody } = await mailed(taskId);
          await done(
            post("/v1/tasks/{taskId}/announcements", { taskId }, v),
            `Announced. The page of the task shows it${nobody ? "" : ", and members of teams that take part get an e-mail if they want such e-mails"}.`,
          );
        }}
      >
        {fields}
      </Form>
      <Items of={all} empty={<p>There is no announcement.</p>}>
        {items => (
          <>
            {items.map(a => (
              <article class="card" key={a.id}>
                <Announcement of={a} />
                <details>
                  <summary>Change</summary>
                  <Form
                    name={`announcement ${a.id}`}
                    initial={{ title: a.title, body: a.body }}
                    submit={(v, base) =>
                      done(
                        patch(one, { taskId, announcementId: a.id }, mergePatch(base, v)),
                        "Saved. It is not sent again.",
                      )
                    }
                  >
                    {fields}
                  </Form>
                  <Action plain label={`Delete ${a.title}`} ask="It cannot be restored." run={() => drop(a)}>
                    Delete
                  </Action>
                </details>
              </article>
            ))}
          </>
        )}
      </Items>
    </>
  );
}

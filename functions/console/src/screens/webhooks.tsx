// The webhooks of a task or an organizer, and their deliveries.
import { useState } from "preact/hooks";
import { patch, post, remove, type Schemas } from "../api";
import { done, useList } from "../data";
import { deliveryStates, eventLabel, eventLabels } from "../event_labels";
import type { Screen } from "../route";
import { Checks, Text } from "../ui/fields";
import { Form } from "../ui/form";
import { useMade } from "../ui/made";
import { Action, Code, Heading, Items, Listed, Tag } from "../ui/show";
import { When } from "../ui/time";
import { filled } from "../ui/values";

type Ids = Record<string, string>;
// Webhooks of tasks and of organizers differ only in their addresses.
const ofTask = "/v1/tasks/{taskId}/webhooks";
const ofOrganizer = "/v1/organizers/{organizerId}/webhooks";

export default function Webhooks({ params }: Screen) {
  const path = (params.taskId ? ofTask : ofOrganizer) as typeof ofTask;
  const all = useList(path, { path: params as { taskId: string } });
  const [made, show] = useMade<Schemas["NewWebhook"]>(all);
  return (
    <>
      <p class="small">
        <a href={params.taskId ? `#/tasks/${params.taskId}/desk` : `#/organizers/${params.organizerId}`}>Back</a>
      </p>
      <Heading title="Webhooks">Webhooks</Heading>
      <p>Events are sent to addresses of yours as the Standard Webhooks specification has it, signed with a secret.</p>
      {made?.secret && (
        <div class="notice" role="status">
          <p>
            The secret of <bdi>{made.url}</bdi> is shown this once.
          </p>
          <Code label="Secret of the webhook">{made.secret}</Code>
        </div>
      )}
      <Items of={all} empty={<p>No webhook is set up.</p>}>
        {items => (
          <>
            {items.map(w => (
              <One key={w.id} of={w} path={path} ids={{ ...params, webhookId: w.id }} show={show} />
            ))}
          </>
        )}
      </Items>
      {all.items && <h2>New webhook</h2>}
      {all.items && (
        <Form
          name={`webhook ${Object.values(params).join(" ")}`}
          initial={{}}
          button="Make a webhook"
          submit={async v => show(await post(path, params, filled(v)))}
        >
          {f => (
            <>
              <Text
                f={f}
                name="url"
                type="url"
                label="Address"
                required
                max={2000}
                hint="https:// on the public internet. http:// and other networks only if the operator of this server allows them: see Deliveries."
              />
              <Checks f={f} name="kinds" label="Events" options={eventLabels} hint="All, if you choose none." />
            </>
          )}
        </Form>
      )}
    </>
  );
}

type Props = {
  of: Schemas["Webhook"];
  path: typeof ofTask;
  ids: Ids;
  show: (w: Schemas["NewWebhook"]) => Promise<void>;
};

function One({ of: w, path, ids, show }: Props) {
  const [open, setOpen] = useState(false);
  const one = `${path}/{webhookId}` as const;
  const set = (disabled: boolean): Promise<unknown> => patch(one, ids, { disabled });
  const disable = (disabled: boolean): Promise<void> =>
    done(set(disabled), disabled ? "Switched off." : "Switched on.", () => set(!disabled));
  return (
    <article class="card">
      <h2>
        <bdi>{w.url}</bdi> {w.disabled && <Tag kind="bad">off</Tag>}
      </h2>
      <p class="small">{w.kinds?.length ? w.kinds.map(k => eventLabels[k]).join(", ") : "All events"}</p>
      <p class="actions">
        <Action plain label={`${w.disabled ? "Switch on" : "Switch off"} ${w.url}`} run={() => disable(!w.disabled)}>
          {w.disabled ? "Switch on" : "Switch off"}
        </Action>
        <Action
          plain
          label={`New secret for ${w.url}`}
          ask="The one that there is ends in a day."
          run={async () => show(await post(`${one}/secrets`, ids, {}))}
        >
          New secret
        </Action>
        <Action
          plain
          label={`Delete ${w.url}`}
          ask="Nothing more is sent there, and its secret is lost."
          run={() => done(remove(one, ids), "The webhook is deleted.")}
        >
          Delete
        </Action>
      </p>
      <details onToggle={e => setOpen(e.currentTarget.open)}>
        <summary>Deliveries</summary>
        {open && <Deliveries path={one} ids={ids} />}
      </details>
    </article>
  );
}

const stateKinds = { delivered: "good", failed: "bad", pending: "warm" } as const;

function Deliveries({ path, ids }: { path: `${typeof ofTask}/{webhookId}`; ids: Ids }) {
  const all = useList(`${path}/deliveries`, { path: ids as { taskId: string; webhookId: string } });
  return (
    <Listed of={all} empty={<p>Nothing was sent yet.</p>}>
      {d => (
        <>
          <span>
            <Tag kind={stateKinds[d.state]}>{deliveryStates[d.state]}</Tag> {eventLabel(d.type)},{" "}
            <When at={d.createdAt} /> {d.failure && <span class="small fault">{d.failure}</span>}
          </span>
          <Action
            plain
            label={`Send again: ${eventLabel(d.type)}`}
            run={() =>
              done(
                post(`${path}/deliveries/{deliveryId}/attempts`, { ...ids, deliveryId: d.id }, {}),
                "It is sent again.",
              )
            }
          >
            Send again
          </Action>
        </>
      )}
    </Listed>
  );
}

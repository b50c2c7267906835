// The labels of events.
import type { components } from "./api_types";

type Webhook = components["schemas"]["Webhook"];

/** eventLabels holds the labels of the events that webhooks receive. */
export const eventLabels: Record<NonNullable<Webhook["kinds"]>[number], string> = {
  "registration.pending": "A team waits for a decision",
  "registration.decided": "A team is accepted or rejected",
  "registration.ended": "A team is deleted, or a member is removed from it",
  "invitation.created": "Somebody is invited",
  "run.failed": "A run fails",
  "run.completed": "A run completes",
  "review.published": "Results are published",
  "deletion.created": "Organizers delete a run or a submission of a team",
  "truth.changed": "Runs are evaluated again",
  "window.closing": "A window closes in two days",
  "announcement.published": "Organizers announce something",
  "workers.missing": "No worker serves runs of a task",
  "webhook.disabled": "A webhook is switched off",
};

/** eventLabel returns the label of the event of a delivery. Each new webhook receives webhook.created, which nobody can choose. */
export const eventLabel = (type: string): string =>
  type === "webhook.created" ? "The webhook is made" : (eventLabels[type as keyof typeof eventLabels] ?? "An event");

/** deliveryStates holds the words for the states of deliveries. */
export const deliveryStates: Record<components["schemas"]["Delivery"]["state"], string> = {
  pending: "waits to be sent",
  delivered: "delivered",
  failed: "failed",
};

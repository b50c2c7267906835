// The registration of a task in words.
import type { Schemas } from "./api";
import { stageOf } from "./stage";

type Rules = Pick<NonNullable<Schemas["Task"]["registration"]>, "mode" | "opensAt" | "closesAt">;

/** Part is a part of a sentence, with the instant that follows it. */
export type Part = { said: string; at?: string | undefined };

const modes = {
  open: "you take part at once",
  approval: "organizers accept teams",
};

const until = (said: string, at: string | undefined): Part[] => (at ? [{ said, at }] : []);

/** registrationOf says who can take part in a task, and when. Invitations of the organizers have no window. */
export function registrationOf(rules: Rules | undefined, now = Date.now()): Part[] {
  const { mode = "open", opensAt, closesAt } = rules ?? {};
  if (mode === "closed") return [{ said: "By invitation of the organizers" }];
  switch (stageOf(rules, now)) {
    case "past":
      return [{ said: "Took registrations until", at: closesAt }];
    case "upcoming":
      return [{ said: "Opens", at: opensAt }, ...until(", closes", closesAt), { said: `. Then ${modes[mode]}` }];
    default:
      return [{ said: `Open: ${modes[mode]}` }, ...until(", until", closesAt)];
  }
}

/**
 * notNow says why a task takes no registrations now. The organizers can invite in any case. Owners of teams can until the
 * task takes no more submissions: past says that it does not.
 */
export function notNow(rules: Rules | undefined, past: boolean, now = Date.now()): Part[] {
  if (rules?.mode === "closed")
    return [{ said: "Teams take part by invitation of the organizers: open the link that they send you." }];
  const when: Part =
    stageOf(rules, now) === "past"
      ? { said: "The task took registrations until", at: rules?.closesAt }
      : { said: "The task takes registrations from", at: rules?.opensAt };
  const senders = past ? "the organizers" : "the organizers or the owner of a team";
  return [when, { said: `. With an invitation you can join in any case: open the link that ${senders} send you.` }];
}

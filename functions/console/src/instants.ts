// The instants at which a screen about a task changes by itself.
import type { Schemas } from "./api";

type Instant = string | undefined;

/** nextOf returns the first of the instants after now, in milliseconds. */
export function nextOf(instants: Instant[], now = Date.now()): number | undefined {
  const coming = instants.flatMap(i => (i ? [Date.parse(i)] : [])).filter(at => at > now);
  return coming.length > 0 ? Math.min(...coming) : undefined;
}

/** windowsOf returns the instants at which tasks or datasets open and close. */
export const windowsOf = (all: Pick<Schemas["Task"], "submissions" | "registration">[]): Instant[] =>
  all.flatMap(({ submissions: s, registration: r }) => [s?.opensAt, s?.closesAt, r?.opensAt, r?.closesAt]);

/** quotaInstants returns the instants at which a team may submit more, or no more. */
export const quotaInstants = (quota: Schemas["Quota"] | undefined): Instant[] =>
  (quota?.datasets ?? []).flatMap(q => [q.opensAt, q.closesAt, q.nextAt]);

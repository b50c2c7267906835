// What a team may submit to a dataset, in words.
import type { Schemas } from "./api";
import { areAlike, conditionOf, firstFrom, firstNow, type Ruled } from "./column_rules";
import { count } from "./plural";

type Quota = Schemas["DatasetQuota"];
type Instant = string | undefined;

/**
 * sharedOf returns how many runs a team can submit to all datasets together, if the datasets cannot use up what is left
 * for each of them.
 */
export function sharedOf({ left, datasets = [] }: Schemas["Quota"]): number | undefined {
  const open = datasets.filter(q => q.open && q.left !== undefined);
  const sum = open.reduce((n, q) => n + q.left!, 0);
  return left !== undefined && sum > left ? left : undefined;
}

/**
 * leftOf returns how many runs can be submitted now. The instant is the time of the next one. shared is what the dataset
 * shares with others, from sharedOf.
 */
export function leftOf(q: Pick<Quota, "left" | "nextAt">, shared?: number): { said: string; next: Instant } {
  if (q.left === undefined) return { said: "no limit", next: undefined };
  if (q.left === 0) return { said: "no run is left", next: q.nextAt };
  if (shared === undefined) return { said: `${count(q.left, "run")} left`, next: q.nextAt };
  const most = shared === 1 ? "1 run" : `up to ${q.left} of the ${shared} runs`;
  return { said: `${most} left for all datasets together`, next: q.nextAt };
}

/** limitsOf returns the limits of a quota. It is empty without limits. */
export const limitsOf = (q: { perDay?: number; total?: number }): string =>
  [q.perDay && `${q.perDay} in 24 hours`, q.total && `${q.total} in all`].filter(Boolean).join(", ");

/** togetherOf says what a team may submit to all datasets of a task together. It is empty without limits. */
export function togetherOf(quota: Schemas["Quota"], now = Date.now()): string {
  const limits = limitsOf(quota);
  const all = quota.datasets ?? [];
  if (!limits) return "";
  const said = "Over all datasets of the task together the team";
  if (allClosed(quota, now)) return `${said} could submit ${limits}.`;
  return `${said} may submit ${limits}${all.length === 0 || all.some(q => q.open) ? `: ${leftOf(quota).said}` : ""}.`;
}

type Reason = NonNullable<Quota["closedReason"]>;

const passed = (at: Instant, now: number): boolean => at !== undefined && Date.parse(at) <= now;

/** hasClosed reports whether the dataset takes no more runs of the team, even if the organizers accept the team. */
export const hasClosed = (q: Quota, now = Date.now()): boolean =>
  q.closedReason === "late" || (!q.open && passed(q.closesAt, now));

/** allClosed reports whether each dataset of a task has closed for the team. It is false without datasets. */
export const allClosed = ({ datasets = [] }: Schemas["Quota"] = {}, now = Date.now()): boolean =>
  datasets.length > 0 && datasets.every(q => hasClosed(q, now));

/** reasonOf returns why the dataset takes no runs. */
const reasonOf = (q: Quota, now: number): Reason => (hasClosed(q, now) ? "late" : (q.closedReason ?? "late"));

const until = (said: string, at: Instant): { said: string; at: Instant } => ({ said: at ? `${said} until` : said, at });

/**
 * windowOf returns whether a dataset takes runs of a team in this state. The instant is its opening or close, if it
 * matters.
 */
export function windowOf(q: Quota, state: Team["state"], now = Date.now()): { said: string; at: Instant } {
  if (q.open) return until("takes runs", q.closesAt);
  switch (reasonOf(q, now)) {
    case "registration":
      return until("takes runs of accepted teams", q.closesAt);
    case "early":
      return { said: state === "accepted" ? "opens" : "opens for accepted teams", at: q.opensAt };
    case "late":
      return { said: "closed", at: q.closesAt };
    case "always":
      return { said: "takes no runs: it closes before it opens", at: undefined };
    case "truth":
      return { said: "takes no runs yet: the organizers have not stored a ground truth without errors", at: undefined };
    case "deletion":
      return { said: "takes no runs: it is being deleted", at: undefined };
    case "terms":
      if (isOver(q, now)) return { said: "takes no more runs: no run is left", at: undefined };
      return { said: "takes no runs until the team has accepted the terms of the task", at: undefined };
  }
}

/** unservedNote says that a submission of this type to the dataset would wait for a worker. It is empty otherwise. */
export const unservedNote = (q: Pick<Quota, "unservedTypes">, type: Schemas["SubmissionDraft"]["type"]): string =>
  q.unservedTypes?.includes(type) ? "No worker for it has been seen for a minute: a run waits until one comes." : "";

/** takes reports whether the team can submit a run to the dataset now, or once it has accepted the terms of the task. */
export const takes = (q: Quota | undefined): boolean =>
  q === undefined || ((q.open || q.closedReason === "terms") && q.left !== 0);

/** opening returns when a dataset that is not open yet takes the first run of the team: not before the quota leaves one. */
function opening(q: Quota): Instant {
  if (q.left !== 0 || !q.nextAt) return q.left === 0 ? undefined : q.opensAt;
  return Date.parse(q.nextAt) > Date.parse(q.opensAt!) ? q.nextAt : q.opensAt;
}

/** nextAt returns when the dataset next takes a run of the team, if that is known. It assumes that the team accepts the terms. */
function nextAt(q: Quota, now: number): Instant {
  const reason = q.open ? undefined : reasonOf(q, now);
  if (reason && reason !== "terms" && reason !== "early") return undefined;
  const at = reason === "early" ? opening(q) : q.nextAt;
  const closed = at && q.closesAt && Date.parse(q.closesAt) <= Date.parse(at);
  return closed ? undefined : at;
}

/** isOver reports whether the dataset takes no more runs of the team: it has closed, or the team has used up its quota. */
export const isOver = (q: Quota, now = Date.now()): boolean =>
  hasClosed(q, now) || (q.left === 0 && nextAt(q, now) === undefined);

/** allOver reports whether no dataset of a task takes a run of the team any more. A task without datasets will get some. */
export const allOver = ({ datasets = [] }: Schemas["Quota"] = {}, now = Date.now()): boolean =>
  datasets.length > 0 && datasets.every(q => isOver(q, now));

type Team = Pick<Schemas["Registration"], "state" | "quota">;

/** waits says why a team that is not accepted cannot submit. */
export function waits({ state, quota }: Team): string {
  if (state === "rejected") return "The organizers rejected your team: it does not take part, and cannot submit.";
  return allClosed(quota)
    ? "The organizers have not accepted your team, and every dataset of the task has closed: your team cannot submit."
    : "Your team cannot submit before the organizers have accepted it.";
}

/** nextRun returns whether the team can submit a run now, or else the time of the first one, if it is known. */
export function nextRun({ datasets = [] }: Schemas["Quota"], now = Date.now()): { possible: boolean; at: Instant } {
  if (datasets.some(takes)) return { possible: true, at: undefined };
  const times = datasets.map(q => nextAt(q, now)).filter(at => at !== undefined);
  return { possible: false, at: times.sort((a, b) => Date.parse(a) - Date.parse(b))[0] };
}

/** onlyTerms reports whether the team can submit only after it has accepted the terms of the task. */
export const onlyTerms = ({ datasets = [] }: Schemas["Quota"]): boolean =>
  datasets.some(takes) && !datasets.some(q => q.open && q.left !== 0);

/** scoresNote says when a team sees scores of its runs on a dataset, if that is not at once. */
export function scoresNote(d: Pick<Schemas["Dataset"], "split" | "columns">, now = Date.now()): string {
  const first = firstFrom(d.columns, "team", now);
  if (first === "never") return "Only the organizers see scores.";
  const steps = [d.split === "test" && "unblinded", first === "publication" && "published"].filter(Boolean);
  const reviewed = steps.length > 0 && `the organizers have ${steps.join(" and ")} it`;
  const once = [reviewed, conditionOf(first)].filter(Boolean).join(" and ");
  if (!once) return "";
  return `${d.split === "test" ? "Runs start blinded: a" : "A"} team sees scores of its run once ${once}.`;
}

/** baselineNote says who sees the scores of a baseline on a dataset, from its own resource. Its organizers see them at once. */
export function baselineNote(d: Pick<Schemas["Dataset"], "split" | "publish"> & Ruled, now = Date.now()): string {
  const first = firstNow(d, "everyone", now);
  if (first === "never") return "You see the scores at once. Only organizers and teams see scores on this dataset.";
  const steps = [d.split === "test" && "unblinded", d.publish !== "onCompletion" && "published"].filter(Boolean);
  const reviewed = steps.length > 0 && `you have ${steps.join(" and ")} the run`;
  const once = [reviewed, conditionOf(first)].filter(Boolean).join(" and ");
  const them = areAlike(d.columns) ? "them" : "some of them";
  return `You see the scores at once. Others see ${them} ${once ? `once ${once}` : "at once, too: the run is published when it is evaluated"}.`;
}

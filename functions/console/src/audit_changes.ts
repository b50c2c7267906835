// Audit entries in words: what was done, of what, and which members changed from what to what.
import type { components } from "./api_types";
import { eventLabels } from "./event_labels";
import { choiceLabels, fieldLabels } from "./field_labels";
import { personOf } from "./known_names";
import { separate } from "./member_names";
import { flags } from "./review_changes";
import { said } from "./value_words";

type Schemas = components["schemas"];
type Action = Schemas["AuditEntry"]["action"];
type Members = Record<string, unknown>;
type Labels = Record<string, string>;

/** Entry is the part of an audit entry that its words need. */
export type Entry = Pick<Schemas["AuditEntry"], "action" | "subject" | "before" | "after" | "users">;

/** Reference names a dataset or a run by its id. Screens show its name. */
export type Reference = { kind: "datasets" | "runs"; id: string };

/** Value is the value of a member: a text, or the resources that it names. */
export type Value = string | Reference[];

/** Change is a member that a change gave another value. from is missing for a new resource, and to for a deleted one. */
export type Change = { name: string; from?: Value; to?: Value };

const headings: Record<Action, string> = {
  "organizer.created": "Organizer created",
  "members.changed": "Members changed",
  "owners.changed": "Owners changed",
  "invitation.created": "Invitation created",
  "invitation.withdrawn": "Invitation withdrawn",
  "task.created": "Task created",
  "task.rules-changed": "Rules of the task changed",
  "task.deleted": "Task deleted",
  "dataset.created": "Dataset created",
  "dataset.changed": "Rules of the dataset changed",
  "truth.changed": "Ground truth changed",
  "evaluator.changed": "Evaluation changed",
  "board.released": "Leaderboard released",
  "dataset.deleted": "Dataset deleted",
  "registration.created": "Team registered",
  "registration.changed": "Team changed",
  "registration.decided": "Registration decided",
  "registration.deleted": "Registration deleted",
  "exception.granted": "Exception granted",
  "exception.withdrawn": "Exception withdrawn",
  "submission.created": "Submission created",
  "submission.changed": "Submission changed",
  "submission.deleted": "Submission deleted",
  "run.changed": "Run changed",
  "run.deleted": "Run deleted",
  "deletion.undone": "Restored",
  "review.updated": "Review changed",
  "user.deleted": "Account deleted",
  "announcement.created": "Announced",
  "announcement.changed": "Announcement changed",
  "announcement.deleted": "Announcement deleted",
  "webhook.created": "Webhook created",
  "webhook.changed": "Webhook changed",
  "webhook.deleted": "Webhook deleted",
};

const restored: Labels = { tasks: "Task restored", datasets: "Dataset restored", runs: "Run restored" };

/** headingOf says what was done, and in which direction. */
export function headingOf({ action, subject, before, after }: Entry): string {
  const [was, is] = [membersOf(before), membersOf(after)];
  const turned = (name: string): boolean | undefined =>
    Boolean(was[name]) === Boolean(is[name]) ? undefined : Boolean(is[name]);
  switch (action) {
    case "registration.decided":
      return { accepted: "Team accepted", rejected: "Team rejected" }[String(is.state)] ?? "Decision withdrawn";
    case "review.updated": {
      const [blinded, published] = [turned("blinded"), turned("published")];
      const words = [
        blinded !== undefined && (blinded ? "blinded" : "unblinded"),
        published !== undefined && (published ? "published" : "no longer published"),
      ].filter(Boolean);
      return words.length > 0 ? `Run ${words.join(" and ")}` : headings[action];
    }
    case "run.changed":
      if (turned("final") !== undefined) return turned("final") ? "Run marked as final" : "Run unmarked as final";
      return is.state === "cancelled" && was.state !== "cancelled" ? "Run cancelled" : headings[action];
    case "deletion.undone":
      if (/\/submissions\//.test(subject)) return "Submission restored";
      return restored[/^\/v1\/(\w+)/.exec(subject)?.[1] ?? ""] ?? headings[action];
    case "user.deleted":
      return /\/organizers\//.test(subject) ? "Account of a member deleted" : "Account of a team member deleted";
    default:
      return headings[action];
  }
}

const limits = { perDay: fieldLabels.perDay, total: fieldLabels.total };

/** under returns labels for the members of a member. */
const under = <P extends string, K extends string>(path: P, labels: Record<K, string>) =>
  Object.fromEntries(Object.entries(labels).map(([name, label]) => [`${path}/${name}`, label])) as Record<
    `${P}/${K}`,
    string
  >;

const identity = { datasetId: "Dataset", title: "Title", label: "Label", runTag: "Run tag" };

const evaluation = {
  truths: "Ground truth",
  ...under("runFormat", {
    kind: "Format of runs",
    idField: "Field of the item's id",
    valueField: "Field of the value",
    separator: "What separates labels",
  } satisfies Record<keyof Schemas["RunFormat"], string>),
  ...under("evaluator", {
    kind: "What participants submit",
    measures: "Measures",
    image: "Image of the evaluator",
    command: "Command",
  } satisfies Record<keyof Schemas["Evaluator"], string>),
};

const dataset = {
  name: "Name",
  split: "Split",
  truthsPublic: "Give out the ground truth",
  idsPublic: "Participants may know which topics or items the ground truth has",
  labelsPublic: "Participants may know the set of labels",
  inputsFor: "Who gets the input",
  publish: "Runs are published",
  ...under("submissions", {
    opensAt: "Takes runs from",
    closesAt: "Takes runs until",
    ...limits,
  } satisfies Record<keyof Schemas["DatasetSubmissions"], string>),
  finalRuns: "Final runs of a team",
  columns: "How leaderboards show the measures, and to whom",
  ...evaluation,
  boardVersion: "Version of the ground truth on the leaderboard",
};

/** labels holds the labels of the members that entries keep, by the first word of their action. */
const labels: Record<string, Labels> = {
  organizer: { name: "Name" },
  invitation: { role: "Role", uses: "How many may join by it" },
  task: {
    name: "Name",
    visibility: "Who sees the task",
    ...under("registration", {
      mode: "Who can take part",
      opensAt: "Registration opens",
      closesAt: "Registration closes",
    } satisfies Record<keyof Schemas["RegistrationRules"], string>),
    ...under("submissions", {
      opensAt: "Submissions open",
      closesAt: "Submissions close",
      ...limits,
      types: "What teams submit",
    } satisfies Record<keyof Schemas["SubmissionRules"], string>),
    termsVersion: "Version of the terms",
  },
  dataset,
  truth: dataset,
  evaluator: dataset,
  board: dataset,
  registration: {
    state: "Registration",
    userId: "Owner of the team",
    team: "Name of the team",
    anonymous: "Anonymous",
    affiliation: "Affiliation",
    acceptedTerms: "Accepted version of the terms",
  },
  exception: {
    datasetId: "Dataset",
    closesAt: "A later close",
    perDay: "More runs in 24 hours",
    total: "More runs in all",
    runId: "A run that does not count in the quota",
    reason: "Reason",
  } satisfies Record<keyof Schemas["ExceptionDraft"], string>,
  submission: {
    type: "What was submitted",
    title: "Title",
    paperUrl: "Paper",
    visibility: "Who sees the submission",
    baseline: "Baseline",
    datasetIds: "Datasets",
  },
  run: { ...identity, state: "State", final: "Final run" },
  deletion: { unmarkedRunIds: "No longer final" },
  review: {
    ...identity,
    published: "Published",
    blinded: "Blinded",
    comment: "Comment",
    ...flags,
  },
  announcement: { title: "Title", body: "Text" } satisfies Record<keyof Schemas["AnnouncementDraft"], string>,
  webhook: { url: "Address", kinds: "Events", disabled: "Switched off" } satisfies Record<
    keyof Schemas["WebhookDraft"],
    string
  >,
};

/** idle are members that say nothing to people: ids and numbers that the heading or another member tells better. */
const idle = ["registrationId", "submissionId", "evaluationId", "runIds"];

/** choices holds the labels of values by the first word of the action and the path of the member. */
const choices: Record<string, Record<string, Labels>> = {
  task: {
    visibility: { public: "everyone", private: "the organizers and the teams that they accepted" },
    "registration/mode": choiceLabels.mode!,
    "submissions/types": { upload: "files", image: "container images", repository: "repositories" },
  },
  dataset: {
    inputsFor: choiceLabels.inputsFor!,
    publish: choiceLabels.publish!,
  },
  run: { state: { "awaiting-upload": "waits for its file" } },
  webhook: { kinds: eventLabels },
  submission: {
    type: { upload: "files", image: "a container image", repository: "a repository" },
    visibility: { public: "everyone who sees the task", private: "the team and the organizers" },
  },
};

/** missing are the words for a member without a value, by the end of its path. */
const missing: Labels = { perDay: "no limit", total: "no limit", types: "everything", kinds: "all events" };

/** moves are the words for users who are named before and after a change. Before it are those who lost something. */
const moves: Record<string, { lost: string; got: string }> = {
  "members.changed": { lost: "Left", got: "Joined" },
  "owners.changed": { lost: "No longer owners", got: "New owners" },
};

/**
 * changesIn returns the changes of an entry. Changes of members and owners name the users who came and those who went.
 * A new or deleted resource has its members that say something.
 */
export function changesIn(e: Entry): Change[] {
  const words = moves[e.action];
  if (words)
    return [
      { name: words.lost, to: people(e, e.before) },
      { name: words.got, to: people(e, e.after) },
    ].filter(c => c.to);
  const noun = e.action.split(".")[0]!;
  const [was, is] = [leavesOf(e.before), leavesOf(e.after)];
  const both = e.before !== undefined && e.after !== undefined;
  return [...new Set([...was.keys(), ...is.keys()])].flatMap(path => {
    const [from, to] = [was.get(path), is.get(path)];
    if (idle.includes(path) || JSON.stringify(from) === JSON.stringify(to)) return [];
    const name = labels[noun]?.[path] ?? unlabelled(path);
    if (both) {
      const sides = [sideOf(e, noun, path, from, to), sideOf(e, noun, path, to, from)] as const;
      return [{ name, from: sides[0], to: sides[1] }];
    }
    const value = from ?? to;
    if (!value || (Array.isArray(value) && value.length === 0)) return [];
    return [{ name, [e.before === undefined ? "to" : "from"]: sideOf(e, noun, path, value) }];
  });
}

/** unlabelled returns the words of a member that entries of another version kept. */
function unlabelled(path: string): string {
  const words = path.split("/").map(separate).join(", ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const membersOf = (side: unknown): Members => (typeof side === "object" && side !== null ? (side as Members) : {});

/** leavesOf returns the values of a resource by their paths, such as submissions/perDay. */
function leavesOf(side: unknown, at = ""): Map<string, unknown> {
  const all = new Map<string, unknown>();
  for (const [name, value] of Object.entries(membersOf(side)))
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      for (const [path, leaf] of leavesOf(value, `${at}${name}/`)) all.set(path, leaf);
    else all.set(at + name, value);
  return all;
}

/** sideOf returns the value of a member in words. other is its value on the other side of the change. */
function sideOf(e: Entry, noun: string, path: string, value: unknown, other?: unknown): Value {
  const last = path.split("/").at(-1)!;
  const empty = value === undefined || value === null || value === "" || value === 0;
  if (empty || (Array.isArray(value) && value.length === 0))
    return typeof other === "boolean" ? "no" : (missing[last] ?? "none");
  if (/Ids?$/.test(last) && last !== "userId") {
    const kind = /run/i.test(last) ? "runs" : "datasets";
    return [value].flat().map(id => ({ kind, id: String(id) }));
  }
  if (last === "userId") return people(e, [value]);
  if (path === "truths") return filesOf(value as File[], (other as File[] | undefined) ?? []);
  const known = choices[noun]?.[path] ?? {};
  return [value]
    .flat()
    .map(one => known[String(one)] ?? said(one))
    .join(", ");
}

type File = { name: string; sha256?: string };

/** filesOf names files. Those whose name stayed while their content changed have the beginning of their digest. */
const filesOf = (files: File[], others: File[]): string =>
  files
    .map(({ name, sha256 }) =>
      others.some(o => o.name === name && o.sha256 !== sha256)
        ? `${name} (SHA-256 ${sha256?.slice(0, 8) ?? "unknown"}…)`
        : name,
    )
    .join(", ");

/** people names users by their ids. */
const people = (e: Entry, ids: unknown): string =>
  (Array.isArray(ids) ? ids : []).map(id => personOf(e.users?.find(u => u.id === id) ?? { id })).join(", ");

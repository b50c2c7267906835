// The effects of a change from the API's preview, in words.
import type { Schemas } from "./api";
import { inWords } from "./member_names";
import { count } from "./plural";
import { bytes } from "./ui/files";

type Effect = Schemas["Effect"];

const kinds: Record<Effect["kind"], string> = {
  audience: "Who sees it",
  evaluation: "Runs are evaluated again",
  quota: "Counts in one of your limits",
  audit: "Kept in the audit trail",
  news: "People are notified",
  advice: "There is advice for the dataset",
  terms: "Teams must accept the terms",
};

const audiences: Record<string, string> = {
  "": "nobody",
  everyone: "everyone",
  registrants: "the organizers and the teams they accepted",
  owners: "the team and the organizers",
  organizers: "the organizers",
};

const audienceOf = (name: string | undefined): string => audiences[name ?? ""] ?? name ?? "";

/** said returns an effect as a sentence or a short phrase. For an audience, it leaves out the audience: see change. */
export function said(e: Effect, label?: Parameters<typeof inWords>[1]): string {
  const { detail, parts, count: n } = e;
  const text = detail === undefined ? undefined : inWords({ detail, ...(parts && { parts }) }, label);
  if (text !== undefined) return text;
  if (e.kind === "quota") return charge(e);
  if (e.kind === "audience") return `Who sees the ${nounOf(e.subject)}`;
  return counted(kinds[e.kind], n);
}

const counted = (text: string, n: number | undefined): string => (n === undefined ? text : `${text} (${n})`);

/** change returns who sees the subject of an effect before and after. It is undefined for other effects. */
export const change = ({ before, after }: Effect): { before: string; after: string } | undefined =>
  before === undefined && after === undefined ? undefined : { before: audienceOf(before), after: audienceOf(after) };

/** charge says what a change takes from a limit, or gives back. */
function charge({ subject, count: n = 0 }: Effect): string {
  if (subject === "storedBytes") return `Stored files: ${bytes(Math.abs(n))} ${n < 0 ? "less" : "more"}`;
  if (subject.startsWith("/"))
    return n < 0 ? `${count(-n, "run")} of the team no longer counts` : `${count(n, "run")} counts`;
  return counted(kinds.quota, n);
}

const nouns: [RegExp, string][] = [
  [/\/submissions\/[^/]+$/, "submission"],
  [/^\/v1\/tasks\//, "task"],
  [/^\/v1\/datasets\//, "dataset"],
  [/^\/v1\/runs\//, "run"],
  [/^\/v1\/evaluations\//, "evaluation"],
];

const nounOf = (path: string): string => nouns.find(([pattern]) => pattern.test(path))?.[1] ?? "resource";

// The one way to the API: typed by its OpenAPI document, with the token of the session. What can pass by itself is waited for: a token
// that expired, a server that is busy or away, a network that broke. Repeating is safe, because every POST has an idempotency key.
import createClient from "openapi-fetch";
import type { PathsWithMethod } from "openapi-typescript-helpers";
import type { components, paths } from "./api_types";
import { expire, renewed } from "./session";
import { freshToken } from "./sign_in";
import { waiting } from "./ui/status";

export type Schemas = components["schemas"];
export type ProblemDocument = Schemas["Problem"];

/** Problem is an answer that is an error: a problem document (RFC 9457), or what stands for one where no answer came. */
export class Problem extends Error {
  constructor(readonly document: Pick<ProblemDocument, "title" | "detail"> & Partial<ProblemDocument>) {
    super(document.detail);
  }
  /** is reports whether the problem is of the kind, such as "precondition-failed". */
  is(kind: string): boolean {
    return this.document.type === `urn:assay:problem:${kind}`;
  }
}

export const toProblem = (error: unknown): Problem =>
  error instanceof Problem
    ? error
    : new Problem({ title: "Something went wrong", detail: error instanceof Error ? error.message : String(error) });

/** labelOf is the label of the field of a member, where the screen has one such field. */
function labelOf(name: string): string | undefined {
  const all = new Set(
    [...document.querySelectorAll(`[data-field="${name}"] label, [data-field$="/${name}"] label`)].map(
      l => l.textContent,
    ),
  );
  return all.size === 1 ? `“${[...all][0]}”` : undefined;
}

/** inWords has names of members, such as closesAt, by their labels or as words; what is quoted stays as it is. */
export const inWords = (detail: string): string =>
  detail
    .split(/("[^"]*")/)
    .map((part, i) =>
      i % 2 === 1
        ? part
        : part
            .replaceAll("`", "")
            .replace(
              /\b[a-z]+(?:[A-Z][a-z]*)+\b/g,
              name => labelOf(name) ?? name.replace(/[A-Z]/g, c => ` ${c.toLowerCase()}`),
            ),
    )
    .join("");

/** memberOf names the member of a pointer in words, before what is wrong with it. */
export const memberOf = (pointer: string): string => {
  const name = pointer
    .split("/")
    .filter(part => part && !/^\d+$/.test(part))
    .at(-1);
  return name ? `${inWords(name)}: ` : "";
};

/** problemOf is the problem of an answer with the status, of which the body may be a problem document. */
export function problemOf(body: unknown, status: number): Problem {
  const document = typeof body === "object" && body !== null ? (body as ProblemDocument) : undefined;
  return new Problem(
    document?.detail ? document : { title: "Error", detail: `The server answered ${status}. Try again later.`, status },
  );
}

const attempts = 6;
const sleep = (seconds: number): Promise<void> => new Promise(done => setTimeout(done, seconds * 1000));

/** persistentFetch is fetch that sends the token, and repeats a request that may succeed later. */
export async function persistentFetch(request: Request): Promise<Response> {
  const key = request.method === "POST" ? crypto.randomUUID() : "";
  for (let attempt = 1; ; attempt++) {
    const token = await freshToken();
    const next = new Request(request.clone(), { cache: "no-cache" });
    if (token) next.headers.set("Authorization", `Bearer ${token}`);
    if (key) next.headers.set("Idempotency-Key", key);
    if (request.method === "PATCH") next.headers.set("Content-Type", "application/merge-patch+json");
    let answer: Response | undefined;
    try {
      answer = await fetch(next);
    } catch (error) {
      if (request.signal.aborted) throw error;
    }
    if (answer?.status === 401 && token) {
      expire(token);
      await renewed();
      attempt = 0;
      continue;
    }
    const wait = pause(answer, attempt);
    if (wait === undefined) {
      if (answer) return answer;
      throw new Problem({
        title: "No connection",
        detail: "The server did not answer. What you entered is still here: try again when you are online.",
      });
    }
    const done = waiting(
      answer ? `The server is busy. Trying again in ${wait} s.` : `No connection. Trying again in ${wait} s.`,
    );
    await sleep(wait);
    done();
  }
}

/** pause is how many seconds to wait before a request is repeated; undefined: it is not. */
function pause(answer: Response | undefined, attempt: number): number | undefined {
  if (attempt >= attempts) return undefined;
  const backoff = Math.min(2 ** attempt, 20);
  if (!answer || [502, 504].includes(answer.status)) return backoff;
  if (answer.status !== 503 && answer.status !== 429) return undefined;
  const after = Number(answer.headers.get("Retry-After") ?? backoff);
  return after <= 30 ? Math.max(after, 1) : undefined; // a quota of the day says when there is more
}

export const client = createClient<paths>({
  baseUrl: location.origin,
  fetch: persistentFetch,
  querySerializer: { array: { style: "form", explode: false } },
});

type Ids = Record<string, string>;
type Json<T> = T extends { content: { "application/json": infer U } } ? U : never;
type Success<P, M extends "patch" | "post"> = P extends keyof paths
  ? paths[P] extends Record<M, { responses: infer R }>
    ? Json<R[keyof R & (200 | 201)]>
    : never
  : never;

// The types of path, parameters and body belong together, which TypeScript can't follow for a method that is not known.
const send = <T>(method: "PATCH" | "POST", path: string, init: object): Promise<T> =>
  ok(
    (
      client[method] as unknown as (
        path: string,
        init: object,
      ) => Promise<{ data?: T; error?: unknown; response: Response }>
    )(path, init),
  );

/** patch merges a patch into the resource at a path; of is the resource as it was read, which it must still be. */
export const patch = <P extends PathsWithMethod<paths, "patch">>(
  path: P,
  ids: Ids,
  body: object,
  of?: object,
): Promise<Success<P, "patch">> =>
  send("PATCH", path, { params: { path: ids, ...(of && { header: { "If-Match": etagOf(of) } }) }, body });

/** post makes a resource at a path. */
export const post = <P extends PathsWithMethod<paths, "post">>(
  path: P,
  ids: Ids,
  body: object,
): Promise<Success<P, "post">> => send("POST", path, { params: { path: ids }, body });

/** remove deletes the resource at a path. */
export const remove = (path: PathsWithMethod<paths, "delete">, ids: Ids, query?: Ids): Promise<unknown> =>
  ok(
    (client.DELETE as unknown as (path: string, init: object) => Promise<{ response: Response }>)(path, {
      params: { path: ids, query },
    }),
  );

/** effects returns what a change would do, and changes nothing. That each change of an organizer is kept for the others is no news. */
export async function effects(
  method: "PATCH" | "POST",
  path: PathsWithMethod<paths, "patch"> | PathsWithMethod<paths, "post">,
  ids: Ids,
  body: object,
): Promise<Schemas["Effect"][]> {
  return (
    await send<Schemas["Preview"]>(method, path, { params: { path: ids, query: { preview: "true" } }, body })
  ).effects.filter(e => e.kind !== "audit" && e.subject !== "auditEntries");
}

/** restore takes back the deletion of a resource, which lies in the trash. */
export async function restore(kind: Schemas["Deletion"]["kind"], resourceId: string, taskId?: string): Promise<void> {
  const all = await ok(
    client.GET("/v1/deletions", {
      params: { query: { "filter[kind]": [kind], ...(taskId && { "filter[taskId]": [taskId] }) } },
    }),
  );
  const entry = all?.data.find(d => d.resourceId === resourceId);
  if (!entry) throw new Error("It is no longer in the trash.");
  await remove("/v1/deletions/{deletionId}", { deletionId: entry.id });
}

const etags = new WeakMap<object, string>();

/** etagOf returns the entity tag that a resource was answered with, for If-Match. */
export const etagOf = (resource: object): string => etags.get(resource) ?? "";

/** ok returns the body of an answer, and throws a Problem where it is an error. Of an empty list, which is 204, the body is undefined. */
export async function ok<T>(answer: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await answer.catch((broken: unknown) => {
    throw toProblem(broken); // such as a page in the place of JSON, of whatever is in between
  });
  if (!response.ok) throw problemOf(error, response.status);
  const tag = response.headers.get("ETag");
  if (tag && typeof data === "object" && data !== null) etags.set(data, tag);
  return data as T;
}

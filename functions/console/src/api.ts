// The client of the API. Its types come from the OpenAPI document, and it sends the token of the session. It waits and
// repeats a request while the token is expired, the server is busy or unavailable, or the network is broken. Repeating
// is safe, because every POST has an idempotency key.
import createClient from "openapi-fetch";
import type { PathsWithMethod } from "openapi-typescript-helpers";
import type { components, paths } from "./api_types";
import { learnNames } from "./known_names";
import { Problem, problemOf, toProblem } from "./problem";
import { secondsBeforeRetry } from "./retry";
import { expire, renewed } from "./session";
import { freshToken } from "./sign_in";
import { waiting } from "./ui/status";

export type Schemas = components["schemas"];
const sleep = (seconds: number): Promise<void> => new Promise(done => setTimeout(done, seconds * 1000));

/** persistentFetch is fetch that sends the token, and repeats a request that may succeed later. */
export async function persistentFetch(request: Request): Promise<Response> {
  const key = request.method === "POST" ? crypto.randomUUID() : "";
  for (let attempt = 1; ; attempt++) {
    await renewed();
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
      attempt = 0;
      continue;
    }
    const wait = secondsBeforeRetry(answer, attempt);
    if (wait === undefined) {
      if (answer) return answer;
      throw new Problem({
        title: "No connection",
        detail: "The server did not answer. What you entered is still here: try again when you are online.",
      });
    }
    const done = waiting(
      answer ? `The server asks to wait. Trying again in ${wait} s.` : `No connection. Trying again in ${wait} s.`,
    );
    await sleep(wait);
    done();
  }
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

type Reply<T> = Promise<{ data?: T; error?: unknown; response: Response }>;

// The types of path, parameters and body depend on the method. TypeScript cannot follow this for an unknown method.
function send<T>(method: "GET" | "PATCH" | "POST" | "DELETE", path: string, init: object): Promise<T> {
  const call = client[method] as unknown as (path: string, init: object) => Reply<T>;
  return ok(call(path, init));
}

/** get reads the resource at a path. Callers know its type; TypeScript can't follow it. */
export const get = <T>(path: string, params: unknown): Promise<T> => send("GET", path, { params });

/** patch merges a patch into the resource at a path. It fails if the resource is no longer the version in of. */
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
  send("DELETE", path, { params: { path: ids, query } });

/**
 * effects previews a change: it returns the effects, and changes nothing. It leaves out that other organizers can see
 * the change.
 */
export const effects = (...change: Parameters<typeof preview>): Promise<Schemas["Effect"][]> =>
  preview(...change).then(p => p.effects.filter(e => e.kind !== "audit" && e.subject !== "auditEntries"));

/** preview returns what the answer to a change would be, and the effects of the change. */
export const preview = (
  method: "PATCH" | "POST",
  path: PathsWithMethod<paths, "patch"> | PathsWithMethod<paths, "post">,
  ids: Ids,
  body: object,
): Promise<Schemas["Preview"]> =>
  send<Schemas["Preview"]>(method, path, { params: { path: ids, query: { preview: "true" } }, body });

/** restore restores a resource from the trash. */
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

/**
 * ok returns the body of an answer, and throws a Problem for an error. The body of an empty list, with the status 204,
 * is undefined.
 */
export async function ok<T>(answer: Reply<T>): Promise<T> {
  const { data, error, response } = await answer.catch((broken: unknown) => {
    throw toProblem(broken); // for example if a proxy answers with a page instead of JSON
  });
  if (!response.ok) throw problemOf(error, response.status);
  learnNames(data);
  const tag = response.headers.get("ETag");
  if (tag && typeof data === "object" && data !== null) etags.set(data, tag);
  return data as T;
}

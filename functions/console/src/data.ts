// Reading resources and lists from screens. The browser's cache makes repeated requests conditional.

import type { PathsWithMethod } from "openapi-typescript-helpers";
import { useEffect, useRef } from "preact/hooks";
import useSWR, { type SWRConfiguration, type SWRResponse } from "swr";
import useSWRInfinite from "swr/infinite";
import { client, get, ok, post, type Schemas } from "./api";
import type { paths } from "./api_types";
import { changed } from "./fresh";
import { gone, type Problem } from "./problem";
import { refresh, settle } from "./refresh";
import { session, useSession } from "./session";
import { say } from "./ui/status";

type GetPath = PathsWithMethod<paths, "get">;
type Params<P extends GetPath> = paths[P] extends { get: { parameters: infer T } } ? T : never;
export type Answer<P extends GetPath> = paths[P] extends {
  get: { responses: { 200: { content: { "application/json": infer T } } } };
}
  ? T
  : never;
type Item<P extends GetPath> = Answer<P> extends { data: (infer T)[] } ? T : never;
export type Loading<T> = Pick<SWRResponse<T, Problem>, "data" | "error" | "mutate">;

/**
 * loading reads the parts of SWR's answer that screens show. SWR renders a screen again only if a part changes that
 * the screen has read before.
 */
export const loading = <T>({ data, error, mutate }: SWRResponse<T, Problem>): Loading<T> => ({ data, error, mutate });

/** read gets a resource once, independent of the life of a screen. */
export const read = <P extends GetPath>(path: P, params: Params<P>): Promise<Answer<P>> => get(path, params);

type Page<P extends GetPath> = { data: Item<P>[]; links: { next?: string } } | undefined;

/** readAll gets all pages of a list. */
export async function readAll<P extends GetPath>(path: P, params: Params<P>): Promise<Item<P>[]> {
  let page = await get<Page<P>>(path, params);
  const all = page?.data ?? [];
  while (page?.links.next) {
    page = await get<Page<P>>(page.links.next, {});
    all.push(...(page?.data ?? []));
  }
  return all;
}

/** done waits for a change, reads everything again, and shows the message said with a button for undo. */
export async function done(change: Promise<unknown>, said: string, undo?: () => Promise<unknown>): Promise<void> {
  await change;
  settle();
  await refresh();
  say(said, undo && (() => undo().then(settle).then(refresh)));
}

/** useGet reads a resource, and again with its screen. It reads nothing while the path is null. */
export function useGet<P extends GetPath>(
  path: P | null,
  params: Params<P>,
  config?: SWRConfiguration<Answer<P>, Problem>,
): Loading<Answer<P>> {
  useSession();
  const key = path && [session()?.token !== undefined, path, params];
  const loaded = loading(useSWR<Answer<P>, Problem>(key, () => get<Answer<P>>(path!, params), config));
  useChanges(loaded.data, key, config);
  return loaded;
}

/**
 * useChanges reads the whole screen again when a resource has changed that was read more often than the screen. SWR keeps
 * the identity of data that did not change.
 */
function useChanges<T>(
  data: T | undefined,
  key: unknown,
  config: Pick<SWRConfiguration<T>, "refreshInterval"> = {},
): void {
  const of = JSON.stringify(key);
  const before = useRef({ data, of });
  useEffect(() => {
    const { current } = before;
    before.current = { data, of };
    if (current.of !== of || current.data === undefined || current.data === data) return;
    const { refreshInterval: every = 0 } = config;
    if (typeof every === "function" ? every(current.data) : every) changed();
  }, [data, of]);
}

/**
 * useNewest returns the newest state of a resource, which a form sends its changes against. latest reads it again.
 */
export function useNewest<T>(
  of: T,
  reload: () => Promise<T | undefined>,
): { newest: { current: T }; latest: () => Promise<T> } {
  const newest = useRef(of);
  newest.current = of;
  const latest = async (): Promise<T> => {
    newest.current = (await reload()) ?? newest.current;
    return newest.current;
  };
  return { newest, latest };
}

type Tool = "leaderboard" | "significance" | "topics" | "diffir" | "serp";

/**
 * useTool computes the result of a tool. The result of the input before stays meanwhile, unless the tool fails. It
 * computes nothing while the input is null.
 */
export function useTool<T extends Tool>(tool: T, input: object | null): Loading<Computed<T>> {
  useSession();
  const computed = loading(
    useSWR<Computed<T>, Problem>(
      input && [session()?.token !== undefined, tool, input],
      () => post(`/v1/tools/${tool}`, {}, input!) as Promise<Computed<T>>,
      { keepPreviousData: true },
    ),
  );
  const missing = gone(computed.error);
  useEffect(() => {
    if (missing) void refresh(); // The screen may still show what was deleted or withheld meanwhile.
  }, [missing]);
  return computed.error ? { ...computed, data: undefined } : computed; // The data belongs to another input.
}
type Computed<T extends Tool> = Schemas[`${Capitalize<T>}Output`];

type Offer = Schemas["Membership"];

/** useOffer reads what an invitation offers, and again with its screen. It reads nothing while the secret is null. */
export function useOffer(secret: string | null): Loading<Offer> {
  useSession();
  const look = async (): Promise<Offer> => {
    const query = { preview: true };
    const preview = await ok(client.POST("/v1/user/memberships", { params: { query }, body: { secret: secret! } }));
    return (preview as unknown as Schemas["Preview"]).resource as Offer;
  };
  return loading(useSWR<Offer, Problem>(secret && [session()?.token !== undefined, "invitation", secret], look));
}

export type Listing<T> = {
  items?: T[];
  error?: Problem;
  more?: () => void;
  loadingMore: boolean;
  reload: () => Promise<unknown>;
};

/** useList reads the pages of a list, one after the other on request. */
export function useList<P extends GetPath>(
  path: P | null,
  params: Params<P>,
  config?: SWRConfiguration,
): Listing<Item<P>> {
  useSession();
  const at = (index: number, previous: Page<P> | null): unknown[] | null => {
    if (!path || (index > 0 && !previous?.links.next)) return null;
    return [session()?.token !== undefined, "list", path, params, index === 0 ? "" : previous!.links.next];
  };
  const load = ([, , , , next]: [boolean, string, string, unknown, string]): Promise<Page<P>> =>
    next ? get<Page<P>>(next, {}) : get<Page<P>>(path!, params);
  const options = { dedupingInterval: 0, ...config, revalidateFirstPage: true, revalidateAll: false };
  const pages = useSWRInfinite<Page<P>, Problem>(at, load as (key: unknown[]) => Promise<Page<P>>, options);
  const { data, error, size, setSize, isValidating, mutate: again } = pages;
  // refresh does not reach lists of SWR. This key makes refresh read the list again.
  useSWR(path && [session()?.token !== undefined, "again", path, params], () => again().then(() => true), {
    revalidateOnMount: false,
  });
  useChanges(data, path && [path, params], config);
  const last = data?.[data.length - 1];
  return {
    items: data?.flatMap(p => p?.data ?? []),
    error,
    reload: () => again(),
    loadingMore: isValidating && size > (data?.length ?? 0),
    ...(last?.links.next && data!.length >= size && { more: () => void setSize(size + 1) }),
  };
}

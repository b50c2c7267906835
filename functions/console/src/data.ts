// Reading resources and lists from screens. The browser's cache makes conditional requests of repeated ones.

import type { PathsWithMethod } from "openapi-typescript-helpers";
import { useRef } from "preact/hooks";
import useSWR, { mutate, type SWRConfiguration, type SWRResponse } from "swr";
import useSWRInfinite from "swr/infinite";
import { get, post, type Schemas } from "./api";
import type { paths } from "./api_types";
import type { Problem } from "./problem";
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
 * loading takes out of SWR's answer what is ever shown of it: SWR renders a screen again only for what the screen has
 * taken before.
 */
const loading = <T>({ data, error, mutate }: SWRResponse<T, Problem>): Loading<T> => ({ data, error, mutate });

/** read gets a resource once, outside a screen's life. */
export const read = <P extends GetPath>(path: P, params: Params<P>): Promise<Answer<P>> => get(path, params);

/** refresh has everything read again that is shown, after a change. */
export const refresh = (): Promise<unknown> => mutate(() => true);

/** done waits for a change, has everything read again, and says what happened; undo takes it back. */
export async function done(change: Promise<unknown>, said: string, undo?: () => Promise<unknown>): Promise<void> {
  await change;
  await refresh();
  say(said, undo && (() => undo().then(refresh)));
}

/** useGet reads a resource, again when its tab is looked at again. A path of null waits. */
export function useGet<P extends GetPath>(
  path: P | null,
  params: Params<P>,
  config?: SWRConfiguration<Answer<P>, Problem>,
): Loading<Answer<P>> {
  useSession();
  const key = path && [session()?.token !== undefined, path, params];
  return loading(useSWR<Answer<P>, Problem>(key, () => get<Answer<P>>(path!, params), config));
}

/**
 * useNewest has the newest state of a resource for what a form sends, also when the form itself has just read it again.
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
 * useTool has a tool compute from an input; what it computed before stays meanwhile, unless it fails. An input of null
 * waits.
 */
export function useTool<T extends Tool>(tool: T, input: object | null): Loading<Computed<T>> {
  useSession();
  const computed = loading(
    useSWR<Computed<T>, Problem>(
      input && [session()?.token !== undefined, tool, input],
      () => post(`/v1/tools/${tool}`, {}, input!) as Promise<Computed<T>>,
      { keepPreviousData: true, revalidateOnFocus: false },
    ),
  );
  return computed.error ? { ...computed, data: undefined } : computed; // results of another input are none of this one
}
type Computed<T extends Tool> = Schemas[`${Capitalize<T>}Output`];

export type Listing<T> = {
  items?: T[];
  error?: Problem;
  more?: () => void;
  loadingMore: boolean;
  reload: () => Promise<unknown>;
};

/** useList reads the pages of a list, one after the other as they are asked for. */
export function useList<P extends GetPath>(
  path: P | null,
  params: Params<P>,
  config?: SWRConfiguration,
): Listing<Item<P>> {
  useSession();
  type Page = { data: Item<P>[]; links: { next?: string } } | undefined;
  const at = (index: number, previous: Page | null): unknown[] | null => {
    if (!path || (index > 0 && !previous?.links.next)) return null;
    return [session()?.token !== undefined, "list", path, params, index === 0 ? "" : previous!.links.next];
  };
  const load = ([, , , , next]: [boolean, string, string, unknown, string]): Promise<Page> =>
    next ? get<Page>(next, {}) : get<Page>(path!, params);
  const options = { dedupingInterval: 0, ...config, revalidateFirstPage: true, revalidateAll: false };
  const pages = useSWRInfinite<Page, Problem>(at, load as (key: unknown[]) => Promise<Page>, options);
  const { data, error, size, setSize, isValidating, mutate: again } = pages;
  // SWR leaves lists out when screens have everything read again after a change: this key stands for the list then.
  useSWR(path && [session()?.token !== undefined, "again", path, params], () => again().then(() => true), {
    revalidateOnMount: false,
    revalidateOnFocus: false,
    revalidateOnReconnect: false,
  });
  const last = data?.[data.length - 1];
  return {
    items: data?.flatMap(p => p?.data ?? []),
    error,
    reload: () => again(),
    loadingMore: isValidating && size > (data?.length ?? 0),
    ...(last?.links.next && data!.length >= size && { more: () => void setSize(size + 1) }),
  };
}

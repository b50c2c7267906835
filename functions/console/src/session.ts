// The session of this browser: a token that is stored as long as a tab of the console is open. Tabs share the session
// by a channel. So a new tab is signed in. If a token has expired, signing in again in one tab signs in all tabs, and
// none loses its input. A tab that shows another page receives no messages, so the local storage has the time at which
// the last session ended: a session that began before is over.
import { useSyncExternalStore } from "preact/compat";

/** Session is a token with the id of its user and the time of the sign-in. Later tokens of the session keep both. */
export type Session = {
  token: string;
  user?: string;
  since?: number;
  refresh?: string;
  uses?: "id_token" | "access_token";
  expiresAt?: number;
};

const key = "session";
const mark = "signed-out";
const out = "ask-who";
const channel = new BroadcastChannel("assay");
const listeners = new Set<() => void>();
let current: Session | undefined = JSON.parse(sessionStorage.getItem(key) ?? "null") ?? undefined;
/** Ended says why a session ended whose input stays: the server refused its token, or its user signed out in another tab. */
type Ended = "" | "refused" | "signed out";
let ended: Ended = ""; // Requests wait until somebody signs in.
const marked = (): number => Number(localStorage.getItem(mark));
const past = (s: Session): boolean => (s.since ?? 0) < marked();
if (current && past(current)) {
  current = undefined;
  sessionStorage.clear();
}

function store(s: Session | undefined, why: Ended): void {
  current = s;
  ended = why;
  if (s) sessionStorage.setItem(key, JSON.stringify(s));
  else sessionStorage.removeItem(key);
  for (const tell of listeners) tell();
}

channel.onmessage = ({ data }: MessageEvent<{ asks?: true; answer?: Session; session?: Session | null }>) => {
  if (data.asks) {
    if (current && !ended) channel.postMessage({ answer: current });
  } else if (data.answer) {
    if (!current) take(data.answer); // Tabs with a session may have a newer token already.
  } else if (data.session) take(data.session);
  else setAside();
};
if (!current) channel.postMessage({ asks: true });
addEventListener("pageshow", () => current && past(current) && leave());

/**
 * take continues with a session, unless it is over or older than the current session. If the user changes, it
 * discards everything that the former user read and typed.
 */
function take(s: Session): void {
  if (past(s) || (s.since ?? 0) < (current?.since ?? 0)) return;
  if (current && current.user !== s.user) leave(s);
  else store(s, "");
}

/** signedIn begins a session of the user in all tabs, and ends sessions of other users. */
export function signedIn(user: string, s: Session): void {
  const since = Math.max(Date.now(), marked(), (current?.since ?? 0) + 1);
  if (current && current.user !== user) localStorage.setItem(mark, String(since));
  localStorage.removeItem(out);
  begin({ ...s, user, since });
}

/**
 * asksWho reports whether somebody signed out and nobody has signed in since. Then the issuer must ask for a login
 * again, because the next user may be another person.
 */
export const asksWho = (): boolean => localStorage.getItem(out) !== null;

/** begin continues with a session, or with its next token, in all tabs. */
export function begin(s: Session): void {
  channel.postMessage({ session: s });
  take(s);
}

/** signOut ends the session in all tabs. */
export function signOut(): void {
  localStorage.setItem(mark, String(Math.max(Date.now(), current?.since ?? 0) + 1));
  localStorage.setItem(out, "");
  channel.postMessage({ session: null });
  leave();
}

/** draftPrefix begins the keys of the drafts of forms in the storage of the tab. */
export const draftPrefix = "draft ";

/**
 * setAside ends the session after the user signed out in another tab. Drafts stay until the user signs in again, or
 * somebody discards them. The page hides them meanwhile, because the next person at the browser may be another one.
 */
function setAside(): void {
  if (current && Object.keys(sessionStorage).some(k => k.startsWith(draftPrefix)))
    store({ token: "", user: current.user, since: current.since }, "signed out");
  else leave();
}

/** discard drops the drafts of a user who signed out in another tab. */
export const discard = (): void => leave();

/** leave loads the page again without the data and the drafts of the former user. */
function leave(next?: Session): void {
  store(undefined, ""); // A tab that asks meanwhile gets no session.
  sessionStorage.clear();
  if (next) sessionStorage.setItem(key, JSON.stringify(next));
  history.replaceState(null, "", location.pathname);
  location.reload();
}

/** expire marks the token as refused by the server. The page asks to sign in again, and requests wait meanwhile. */
export function expire(token: string): void {
  if (current?.token === token) store(current, "refused");
}

export const session = (): Session | undefined => current;

/** renewed resolves at once, or when somebody has signed in again after the session ended. */
export function renewed(): Promise<void> {
  return new Promise(done => {
    const check = (): void => {
      if (ended) return;
      listeners.delete(check);
      done();
    };
    listeners.add(check);
    check();
  });
}

const subscribe = (tell: () => void): (() => void) => {
  listeners.add(tell);
  return () => listeners.delete(tell);
};

/** useSession returns whether somebody is signed in, and why the session of the page ended. */
export function useSession(): { signedIn: boolean; ended: Ended } {
  const s = useSyncExternalStore(subscribe, () => ended || (current ? "in" : "out"));
  return { signedIn: s !== "out", ended: s === "in" || s === "out" ? "" : s };
}

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
let ended = false; // The server refused the token. Requests with a token wait until somebody signs in.
const marked = (): number => Number(localStorage.getItem(mark));
const past = (s: Session): boolean => (s.since ?? 0) < marked();
if (current && past(current)) {
  current = undefined;
  sessionStorage.clear();
}

function store(s: Session | undefined, over: boolean): void {
  current = s;
  ended = over;
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
  else leave();
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
  else store(s, false);
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

/** leave loads the page again without the data and the drafts of the former user. */
function leave(next?: Session): void {
  store(undefined, false); // A tab that asks meanwhile gets no session.
  sessionStorage.clear();
  if (next) sessionStorage.setItem(key, JSON.stringify(next));
  history.replaceState(null, "", location.pathname);
  location.reload();
}

/** expire marks the token as refused by the server. The page asks to sign in again, and requests wait meanwhile. */
export function expire(token: string): void {
  if (current?.token === token) store(current, true);
}

export const session = (): Session | undefined => current;

/** renewed resolves when a new token has replaced the refused token, or the user has signed out. */
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

/** useSession returns whether somebody is signed in, and whether the server refused the token of the session. */
export function useSession(): { signedIn: boolean; ended: boolean } {
  const s = useSyncExternalStore(subscribe, () => {
    if (ended) return "ended";
    return current ? "in" : "out";
  });
  return { signedIn: s !== "out", ended: s === "ended" };
}

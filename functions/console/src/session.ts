// The session of this browser: a token, kept for as long as its tabs are open. Tabs share it by a channel, so that one
// that is opened later is signed in, and one whose token has expired is signed in again by another without losing what
// was typed in it. A tab that shows another page hears nothing: an instant in the local storage says which sessions
// have ended meanwhile.
import { useSyncExternalStore } from "preact/compat";

/** Session has the id of its user, and when they signed in; each token of it has the same. */
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
let ended = false; // the token was refused: what needs one waits until somebody signs in
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
    if (!current) take(data.answer); // to others it may come later than the next token
  } else if (data.session) take(data.session);
  else leave();
};
if (!current) channel.postMessage({ asks: true });
addEventListener("pageshow", () => current && past(current) && leave());

/**
 * take goes on with a session, unless it has ended or somebody signed in after it. What another user read and typed
 * goes with them.
 */
function take(s: Session): void {
  if (past(s) || (s.since ?? 0) < (current?.since ?? 0)) return;
  if (current && current.user !== s.user) leave(s);
  else store(s, false);
}

/** signedIn begins a session of the user in all tabs, and ends those of others. */
export function signedIn(user: string, s: Session): void {
  const since = Math.max(Date.now(), marked(), (current?.since ?? 0) + 1);
  if (current && current.user !== user) localStorage.setItem(mark, String(since));
  localStorage.removeItem(out);
  begin({ ...s, user, since });
}

/**
 * asksWho reports whether somebody signed out, and nobody in since: the issuer must not take who comes next for them.
 */
export const asksWho = (): boolean => localStorage.getItem(out) !== null;

/** begin goes on with a session, or with its next token, in all tabs. */
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

/** leave loads the page again, so that what was read for its user, and their drafts, go with them. */
function leave(next?: Session): void {
  store(undefined, false); // a tab that asks meanwhile gets none
  sessionStorage.clear();
  if (next) sessionStorage.setItem(key, JSON.stringify(next));
  history.replaceState(null, "", location.pathname);
  location.reload();
}

/** expire says that the server refused the token: the page asks to sign in again, and requests wait for that. */
export function expire(token: string): void {
  if (current?.token === token) store(current, true);
}

export const session = (): Session | undefined => current;

/** renewed resolves once there is another token than the one that was refused, or none is wanted any more. */
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

/** useSession returns whether somebody is signed in, and whether the session has ended against their will. */
export function useSession(): { signedIn: boolean; ended: boolean } {
  const s = useSyncExternalStore(subscribe, () => {
    if (ended) return "ended";
    return current ? "in" : "out";
  });
  return { signedIn: s !== "out", ended: s === "ended" };
}

// The session of this browser: a token, kept for as long as its tabs are open. Tabs share it by a channel, so that one that is opened
// later is signed in, and one whose token has expired is signed in again by another without losing what was typed in it.
import { useSyncExternalStore } from "preact/compat";

export type Session = { token: string; refresh?: string; uses?: "id_token" | "access_token"; expiresAt?: number };

const key = "session";
const channel = new BroadcastChannel("assay");
const listeners = new Set<() => void>();
let current: Session | undefined = JSON.parse(sessionStorage.getItem(key) ?? "null") ?? undefined;
let ended = false; // the token was refused: what needs one waits until somebody signs in

function store(s: Session | undefined, over: boolean): void {
  current = s;
  ended = over;
  if (s) sessionStorage.setItem(key, JSON.stringify(s));
  else sessionStorage.removeItem(key);
  listeners.forEach(tell => tell());
}

channel.onmessage = ({ data }: MessageEvent<{ asks?: true; session?: Session | null }>) => {
  if (data.asks) {
    if (current && !ended) channel.postMessage({ session: current });
  } else if (data.session) store(data.session, false);
  else leave();
};
if (!current) channel.postMessage({ asks: true });

/** begin starts a session, or the next token of one, in all tabs. */
export function begin(s: Session): void {
  store(s, false);
  channel.postMessage({ session: s });
}

/** signOut ends the session in all tabs. */
export function signOut(): void {
  channel.postMessage({ session: null });
  leave();
}

/** leave loads the page again, so that what was read for its user, and their drafts, go with them. */
function leave(): void {
  store(undefined, false); // a tab that asks meanwhile gets none
  sessionStorage.clear();
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
  const s = useSyncExternalStore(subscribe, () => (ended ? "ended" : current ? "in" : "out"));
  return { signedIn: s !== "out", ended: s === "ended" };
}

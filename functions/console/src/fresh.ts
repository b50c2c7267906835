// Reading the screen again because another person or the clock may have changed what it shows.
//
// All parts of a screen are read together, so no part is older than another: at the instants that the screen shows, each
// 20 seconds while the tab is visible, when the reader returns to the tab, and after refresh.
import { useEffect } from "preact/hooks";
import { mutate } from "swr";
import { together } from "./together";

const interval = 20_000; // how long an open screen may miss what another person changed
const pause = 5000; // between readings for a reader who leaves the tab and returns
const lag = 2000; // until the server shows the scores of a dataset that has closed

/** comparisons are tools that take the server seconds. Only their reader computes them again. */
const comparisons = ["significance", "topics", "diffir", "serp"];

const again = together(() => mutate(key => !(Array.isArray(key) && comparisons.includes(key[1] as string))));

/** passed reads the screen again after an instant that it shows has passed. */
export function passed(): void {
  again.soon();
  setTimeout(again.soon, lag);
}

/** changed reads the screen again after a part that is read more often than the others has changed. */
export const changed = (): void => again.soon(lag);

const visible = (): boolean => document.visibilityState !== "hidden" && navigator.onLine;

/** useFresh reads the screen again each 20 seconds, and when the reader returns to the tab. */
export function useFresh(): void {
  useEffect(() => {
    const timer = setInterval(() => visible() && again.soon(), interval);
    const returned = (): void => {
      if (visible()) again.soon(pause);
    };
    const events: [EventTarget, string][] = [
      [window, "focus"],
      [window, "online"],
      [document, "visibilitychange"],
    ];
    for (const [target, name] of events) target.addEventListener(name, returned);
    return () => {
      clearInterval(timer);
      for (const [target, name] of events) target.removeEventListener(name, returned);
    };
  }, []);
}

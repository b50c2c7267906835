// Instants that pass while a screen is open.
import { useEffect, useReducer } from "preact/hooks";
import { passed } from "../fresh";
import { nextOf } from "../instants";

const longest = 3_600_000; // Timers of browsers take at most 24 days.

/** useInstants renders again when one of the instants passes, and calls then. */
export function useInstants(instants: (string | undefined)[], then?: () => unknown): void {
  const [, render] = useReducer((n: number) => n + 1, 0);
  const next = nextOf(instants);
  useEffect(() => {
    if (next === undefined) return undefined;
    let timer = 0;
    const wait = (): void => {
      const left = next - Date.now();
      if (left > 0) {
        timer = setTimeout(wait, Math.min(left, longest)) as unknown as number;
        return;
      }
      render(undefined as never);
      then?.();
    };
    wait();
    return () => clearTimeout(timer);
  }, [next]);
}

/** useFreshAt reads the screen again when one of the instants passes. */
export const useFreshAt = (instants: (string | undefined)[]): void => useInstants(instants, passed);

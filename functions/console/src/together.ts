// Reading once for many parts of a screen that ask for it at about the same time.

const gathering = 50; // milliseconds in which parts of a screen notice that an instant has passed

/** Together reads soon, and at least gap milliseconds after the last reading began. */
export type Together = { soon: (gap?: number) => void };

/**
 * together returns a Together. Each call of soon is followed by the beginning of a reading. Calls before that share the
 * reading, and no two readings overlap.
 */
export function together(read: () => Promise<unknown>): Together {
  let last = Number.NEGATIVE_INFINITY;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let due = 0;
  let reading = false;
  let asked = false;
  const begin = (): void => {
    timer = undefined;
    if (reading) {
      asked = true;
      return;
    }
    reading = true;
    last = Date.now();
    const end = (): void => {
      reading = false;
      if (!asked) return;
      asked = false;
      begin();
    };
    read().then(end, end);
  };
  const soon = (gap = 0): void => {
    const at = Math.max(Date.now() + gathering, last + gap);
    if (timer !== undefined && due <= at) return;
    clearTimeout(timer);
    due = at;
    timer = setTimeout(begin, at - Date.now());
  };
  return { soon };
}

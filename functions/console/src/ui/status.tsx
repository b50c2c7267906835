// What just happened, and what is being waited for: one line at the foot of the page, which screen readers read out,
// with a way to undo.
import { useSyncExternalStore } from "preact/compat";
import { Action } from "./show";

type Note = { id: number; text: string; undo?: () => Promise<unknown>; waits?: boolean };

let notes: Note[] = [];
let last = 0;
const listeners = new Set<() => void>();

const set = (next: Note[]): void => {
  notes = next;
  for (const tell of listeners) tell();
};
const drop = (id: number): void => set(notes.filter(n => n.id !== id));

/** say tells what happened; undo takes it back. What can be undone stays for longer. */
export function say(text: string, undo?: () => Promise<unknown>): void {
  const id = ++last;
  set([...notes.filter(n => n.waits), { id, text, ...(undo && { undo }) }]);
  setTimeout(() => drop(id), undo ? 20_000 : 8_000);
}

/** waiting tells what is being waited for, until the function that it returns is called. */
export function waiting(text: string): () => void {
  const id = ++last;
  set([...notes.filter(n => n.text !== text), { id, text, waits: true }]);
  return () => drop(id);
}

const subscribe = (tell: () => void): (() => void) => {
  listeners.add(tell);
  return () => listeners.delete(tell);
};

export function Status() {
  const all = useSyncExternalStore(subscribe, () => notes);
  return (
    <div class="status" role="status" aria-live="polite">
      {all.map(n => (
        <Line key={n.id} note={n} />
      ))}
    </div>
  );
}

function Line({ note }: { note: Note }) {
  // The line may have gone by itself before the answer comes.
  const undo = (): Promise<void> =>
    note.undo!().then(
      () => say("Undone."),
      (error: Error) => say(`It could not be undone: ${error.message}`),
    );
  return (
    <p class="note">
      <span>{note.text}</span>
      {note.undo && (
        <Action plain run={undo}>
          Undo
        </Action>
      )}
      {!note.waits && (
        <Action plain label="Dismiss" run={async () => drop(note.id)}>
          ×
        </Action>
      )}
    </p>
  );
}

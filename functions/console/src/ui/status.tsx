// The status line at the foot of the page. It shows the last action with a button to undo it, and what the page waits
// for. Screen readers read it out.
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

/** clearNote removes the note of the last action, so that it does not stand beside the refusal of the next one. */
export const clearNote = (): void => set(notes.filter(n => n.waits));

/** say shows a text instead of the note of the last action. undo undoes the action; a text with undo stays longer. */
export function say(text: string, undo?: () => Promise<unknown>): void {
  const id = ++last;
  clearNote();
  set([...notes, { id, text, ...(undo && { undo }) }]);
  setTimeout(() => drop(id), undo ? 20_000 : 8_000);
}

/** waiting shows a text until the returned function is called. */
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
  // The note may have disappeared before the answer arrives.
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

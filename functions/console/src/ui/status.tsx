// What just happened, and what is being waited for: one line at the foot of the page, which screen readers read out, with a way to undo.
import { useSyncExternalStore } from "preact/compat";
import { useState } from "preact/hooks";

type Note = { id: number; text: string; undo?: () => Promise<unknown>; waits?: boolean };

let notes: Note[] = [];
let last = 0;
const listeners = new Set<() => void>();

const set = (next: Note[]): void => {
  notes = next;
  listeners.forEach(tell => tell());
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

export function Status() {
  const all = useSyncExternalStore(tell => (listeners.add(tell), () => listeners.delete(tell)), () => notes);
  return <div class="status" role="status" aria-live="polite">{all.map(n => <Line key={n.id} note={n} />)}</div>;
}

function Line({ note }: { note: Note }) {
  const [failed, setFailed] = useState("");
  const [busy, setBusy] = useState(false);
  const undo = async (): Promise<void> => {
    setBusy(true);
    try {
      await note.undo!();
      drop(note.id);
      say("Undone.");
    } catch (error) {
      setFailed(` It could not be undone: ${(error as Error).message}`);
    }
  };
  return (
    <p class="note">
      <span>{note.text}{failed}</span>
      {note.undo && !failed && <button type="button" class="plain" disabled={busy} onClick={() => void undo()}>Undo</button>}
      {!note.waits && <button type="button" class="plain" aria-label="Dismiss" onClick={() => drop(note.id)}>×</button>}
    </p>
  );
}

// Forms whose fields are members of the body of a request. A form stores a draft in its tab until it is sent, shows
// each fault beside its field, previews the effects of a change, and merges concurrent changes of others.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Schemas } from "../api";
import { inWords } from "../member_names";
import { Problem, toProblem } from "../problem";
import { refusalOf, useSettled } from "../refresh";
import { draftPrefix, useSession } from "../session";
import { Failure } from "./show";
import { clearNote } from "./status";
import { type Fault, mergeChanges, same, type Values, within, withMember } from "./values";

/** Editing is the state of a form for its fields. */
export type Editing = {
  id: string;
  values: Values;
  set: (name: string, value: unknown) => void;
  /** markEdited drops the faults of a member that the user has edited since they were reported. */
  markEdited: (name: string) => void;
  faults: Fault[];
  theirs: Values; // by name, values that somebody else saved and this form has changed differently
};

type Props = {
  name: string; // name of the draft, such as "task/123"; no draft is stored if it is empty
  initial: Values;
  submit: (values: Values, base: Values) => Promise<unknown>;
  children: (f: Editing) => ComponentChildren;
  button?: string;
  /** files are the fields of files, which drafts do not store: whether some are chosen, and what empties them. */
  files?: { chosen: boolean; clear: () => void };
  /** over says that the form cannot be sent any more. Its fields stay, for the reader to copy. */
  over?: boolean;
  /** preview returns the effects of submitting. The form shows them first, unless there are none. */
  preview?: (values: Values, base: Values) => Promise<Schemas["Effect"][]>;
  /** latest reads the edited resource again, after somebody else has changed it. */
  latest?: () => Promise<Values>;
};

type Draft = { values: Values; base: Values };

/** hasDraft reports whether a form has changes that are not sent, besides files. */
export const hasDraft = (name: string): boolean => draftOf(name) !== null;

const draftKey = (name: string): string => draftPrefix + name;
const draftOf = (name: string): Draft | null => JSON.parse(sessionStorage.getItem(draftKey(name)) ?? "null");

function keepDraft(name: string, draft: Draft): void {
  try {
    sessionStorage.setItem(draftKey(name), JSON.stringify(draft));
  } catch {
    sessionStorage.removeItem(draftKey(name)); // The browser has no room for the draft.
  }
}

export function Form({ name, initial, submit, children, button = "Save", files, over, preview, latest }: Props) {
  const draft = draftOf(name);
  const [base, setBase] = useState(draft?.base ?? initial);
  const [values, setValues] = useState(draft?.values ?? initial);
  const [problem, setProblem] = useState<Problem>();
  const [effects, setEffects] = useState<Schemas["Effect"][]>();
  const [theirs, setTheirs] = useState<Values>({});
  const [busy, setBusy] = useState(false);
  const [restored, setRestored] = useState(draft !== null && !same(draft.values, draft.base));
  const { ended } = useSession();
  const element = useRef<HTMLFormElement>(null);
  const [edited, setEdited] = useState<string[]>([]);
  const refused = problem?.document.errors ?? [];
  const faults = refused.filter(e => !edited.some(m => within(e, m)));
  const standing = refused.length > 0 ? faults.length > 0 : edited.length === 0;
  const markEdited = (path: string): void => setEdited(all => [...all, path]);

  // Unedited members take the values that were read again, so that a request always changes the newest version.
  useEffect(() => {
    if (busy || same(initial, base)) return;
    if (same(values, base)) {
      setBase(initial);
      setValues(initial);
    } else merge(initial);
  }, [JSON.stringify(initial), busy]);
  // An effect that runs after painting would lose what the reader changed just before leaving the screen.
  useLayoutEffect(() => {
    if (!name || same(values, base)) sessionStorage.removeItem(draftKey(name));
    else keepDraft(name, { values, base });
  }, [values, base]);
  useEffect(() => {
    if (!problem) return;
    for (const fault of element.current?.querySelectorAll(".fault") ?? []) unfold(fault);
    element.current?.querySelector<HTMLElement>("[aria-invalid=true], .fault[tabindex], .failure")?.focus();
  }, [problem]);

  const set = (path: string, value: unknown): void => {
    setValues(v => withMember(v, path, value));
    setEffects(undefined);
    markEdited(path);
  };
  const send = async (): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    setEdited([]);
    clearNote();
    try {
      const coming = preview && !effects ? await preview(values, base) : [];
      if (coming.length > 0) setEffects(coming);
      else {
        if (!(await settled())) return setBusy(false);
        sessionStorage.removeItem(draftKey(name));
        setBase(values);
        setEffects(undefined);
        setTheirs({});
        setRestored(false);
      }
    } catch (error) {
      setProblem(refusalOf(error));
    }
    setBusy(false);
  };
  /**
   * settled submits the form. If somebody else has changed the resource meanwhile, it submits again, unless a field of
   * the form has changed. Then it returns false.
   */
  const settled = async (): Promise<boolean> => {
    try {
      await submit(values, base);
    } catch (error) {
      if (!latest || !toProblem(error).is("precondition-failed")) throw error;
      const now = await latest();
      if (!same(now, base)) {
        merge(now);
        return false;
      }
      await submit(values, base);
    }
    return true;
  };
  const merge = (now: Values): void => {
    const merged = mergeChanges(values, base, now);
    setBase(now);
    setValues(merged.values);
    setTheirs(merged.conflicts);
    setEffects(undefined);
    const what =
      Object.keys(merged.conflicts).length > 0
        ? ", but for those marked, where yours differ. Choose, and save again."
        : ". Look, and save again.";
    const said = `Somebody else changed this while you edited it. Their changes are in the form now${what}`;
    setProblem(toProblem(new Error(said)));
  };
  const startOver = (): void => {
    setValues(base);
    setRestored(false);
    setProblem(undefined);
    setEdited([]);
    setTheirs({});
    files?.clear();
  };
  const ready = effects ? `${button}, with these effects` : button;
  const placed = [...(element.current?.querySelectorAll("[data-field]") ?? [])].map(e => e.getAttribute("data-field")!);
  const unplaced = faults.filter(e => !placed.some(p => within(e, p)));
  const lastSettled = useSettled();
  useEffect(() => {
    if (unplaced.length === faults.length) setProblem(undefined); // Only faults of fields stay until they are edited.
  }, [lastSettled]);
  const elsewhere = problem && standing ? notBesideFields(problem, faults, unplaced) : undefined;
  return (
    <form
      ref={element}
      class="form"
      onInvalidCapture={event => unfold(event.target as Element)}
      onSubmit={event => {
        event.preventDefault();
        if (!busy) void send();
      }}
    >
      {restored && !over && !same(values, base) && !effects && (
        <p class="notice" role="status">
          The fields have changes that are not sent yet. Choose “{button}” to send them, or “Start over”.
          {files && !files.chosen && " Chosen files are not kept: choose them again."}
        </p>
      )}
      {children({ id: name.replaceAll(/\W/g, "-"), values, set, markEdited, faults, theirs })}
      {elsewhere && <Failure of={elsewhere} />}
      {effects && <Effects of={effects} />}
      <p class="actions">
        <button type="submit" aria-disabled={busy}>
          {busy ? working(ended) : ready}
        </button>
        {effects ? (
          <button type="button" class="plain" onClick={() => setEffects(undefined)}>
            Cancel
          </button>
        ) : (
          (files?.chosen || !same(values, base)) && (
            <button type="button" class="plain" onClick={startOver}>
              Start over
            </button>
          )
        )}
      </p>
    </form>
  );
}

const working = (ended: string): string => (ended ? "Waits until you sign in again above …" : "Working …");

/** unfold opens the folded parts of a form around an element, which otherwise cannot get the focus. */
function unfold(of: Element): void {
  for (let at = of.closest("details"); at; at = at.parentElement?.closest("details") ?? null) at.open = true;
}

/** notBesideFields returns the problem without the faults that fields show. */
function notBesideFields({ document }: Problem, faults: Fault[], unplaced: Fault[]): Problem {
  if (faults.length > 0 && unplaced.length === 0)
    return new Problem({ title: document.title, detail: "Nothing was saved: look at what is marked above." });
  return new Problem({ ...document, errors: unplaced });
}

/** Effects shows the effects of a change from the API's preview. */
export const Effects = ({ of }: { of: Schemas["Effect"][] }) => (
  <div class="effects" role="status">
    <h3>What this will do</h3>
    <ul>
      {of.map((e, i) => (
        <li key={i}>{inWords(e)}</li>
      ))}
    </ul>
  </div>
);

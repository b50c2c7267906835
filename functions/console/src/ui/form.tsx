// Forms whose fields are members of what is sent. A form keeps a draft in its tab until it is sent, puts each fault beside its field,
// shows what a change would do before it is made, and merges what somebody else changed meanwhile.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type Schemas } from "../api";
import { toProblem, type Problem } from "../problem";
import { Failure } from "./show";

export type Values = { [name: string]: unknown };
type Fault = { pointer: string; detail: string };

/** Editing is a form at work, which fields are given. */
export type Editing = {
  id: string;
  values: Values;
  set: (name: string, value: unknown) => void;
  /** markEdited drops the faults of a member that the user has edited since they were reported. */
  markEdited: (name: string) => void;
  faults: Fault[];
  theirs: Values; // by name, what somebody else saved where this form has something else
};

/** member returns the member that a path such as "submissions/perDay" leads to. */
export const member = (of: unknown, path: string): unknown =>
  path
    .split("/")
    .reduce<unknown>((at, name) => (at === null || typeof at !== "object" ? undefined : (at as Values)[name]), of);

/** withMember returns a copy in which the member has the value. */
export function withMember(of: Values, path: string, value: unknown): Values {
  const [name, ...rest] = path.split("/") as [string, ...string[]];
  return {
    ...of,
    [name]: rest.length > 0 ? withMember((of[name] as Values | undefined) ?? {}, rest.join("/"), value) : value,
  };
}

/** within reports whether a fault is of the member at the path, or of a part of it. */
export const within = (of: Fault, path: string): boolean => `${of.pointer}/`.startsWith(`/${path}/`);

export const same = (a: unknown, b: unknown): boolean => JSON.stringify(a ?? null) === JSON.stringify(b ?? null);
const isObject = (v: unknown): v is Values => typeof v === "object" && v !== null && !Array.isArray(v);

/** mergePatch is the merge patch (RFC 7396) that makes b of a. */
export function mergePatch(a: Values, b: Values): Values {
  const patch: Values = {};
  for (const name of new Set([...Object.keys(a), ...Object.keys(b)])) {
    if (same(a[name], b[name])) continue;
    const [from, to] = [a[name], b[name]];
    patch[name] = isObject(from) && isObject(to) ? mergePatch(from, to) : to === undefined || to === "" ? null : to;
  }
  return patch;
}

/** filled leaves out what was not filled in. */
export function filled(values: Values): Values {
  return Object.fromEntries(
    Object.entries(values)
      .map(([name, v]) => [name, isObject(v) ? filled(v) : v])
      .filter(([, v]) => v !== undefined && v !== "" && v !== null && !(isObject(v) && Object.keys(v).length === 0)),
  );
}

type Props = {
  name: string; // of the draft: what is edited, such as "task/123"; without one there is none
  initial: Values;
  submit: (values: Values, base: Values) => Promise<unknown>;
  children: (f: Editing) => ComponentChildren;
  button?: string;
  /** preview returns what submitting would do; it is shown first, unless it is nothing. */
  preview?: (values: Values, base: Values) => Promise<Schemas["Effect"][]>;
  /** latest reads again what is edited, when somebody else changed it meanwhile. */
  latest?: () => Promise<Values>;
};

const draftKey = (name: string): string => `draft ${name}`;

export function Form({ name, initial, submit, children, button = "Save", preview, latest }: Props) {
  const draft = JSON.parse(sessionStorage.getItem(draftKey(name)) ?? "null") as { values: Values; base: Values } | null;
  const [base, setBase] = useState(draft?.base ?? initial);
  const [values, setValues] = useState(draft?.values ?? initial);
  const [problem, setProblem] = useState<Problem>();
  const [effects, setEffects] = useState<Schemas["Effect"][]>();
  const [theirs, setTheirs] = useState<Values>({});
  const [busy, setBusy] = useState(false);
  const element = useRef<HTMLFormElement>(null);
  const [edited, setEdited] = useState<string[]>([]);
  const refused = problem?.document.errors ?? [];
  const faults = refused.filter(e => !edited.some(m => within(e, m)));
  const standing = refused.length > 0 ? faults.length > 0 : edited.length === 0;
  const markEdited = (path: string): void => setEdited(all => [...all, path]);

  // What was not edited follows what was read again, so that what is sent is always made of what it replaces.
  useEffect(() => {
    if (busy || same(initial, base)) return;
    if (same(values, base)) {
      setBase(initial);
      setValues(initial);
    } else merge(initial);
  }, [JSON.stringify(initial), busy]);
  useEffect(() => {
    if (!name || same(values, base)) sessionStorage.removeItem(draftKey(name));
    else {
      try {
        sessionStorage.setItem(draftKey(name), JSON.stringify({ values, base }));
      } catch {
        sessionStorage.removeItem(draftKey(name)); // there is no room for it
      }
    }
  }, [values, base]);
  useEffect(() => {
    if (problem) element.current?.querySelector<HTMLElement>("[aria-invalid=true], .failure")?.focus();
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
    try {
      const coming = preview && !effects ? await preview(values, base) : [];
      if (coming.length > 0) setEffects(coming);
      else {
        if (!(await settled())) return setBusy(false);
        sessionStorage.removeItem(draftKey(name));
        setBase(values);
        setEffects(undefined);
        setTheirs({});
      }
    } catch (error) {
      setProblem(toProblem(error));
    }
    setBusy(false);
  };
  /** settled submits, again when what changed meanwhile is no field of the form, and returns false when it is one. */
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
    let next = values;
    const conflicts: Values = {};
    for (const field of leaves(now, base)) {
      const [was, is, mine] = [member(base, field), member(now, field), member(values, field)];
      if (same(was, is) || same(is, mine)) continue;
      if (same(was, mine)) next = withMember(next, field, is);
      else conflicts[field] = is;
    }
    setBase(now);
    setValues(next);
    setTheirs(conflicts);
    setEffects(undefined);
    setProblem(
      toProblem(
        new Error(
          "Somebody else changed this while you edited it. Their changes are in the form now" +
            (Object.keys(conflicts).length > 0
              ? ", but for those marked, where yours differ. Choose, and save again."
              : ". Look, and save again."),
        ),
      ),
    );
  };
  const placed = [...(element.current?.querySelectorAll("[data-field]") ?? [])].map(e => e.getAttribute("data-field")!);
  const unplaced = faults.filter(e => !placed.some(p => within(e, p)));
  const elsewhere =
    problem &&
    standing &&
    (faults.length > 0 && unplaced.length === 0
      ? { title: problem.document.title, detail: "Nothing was saved: look at what is marked above." }
      : { ...problem.document, errors: unplaced });
  return (
    <form
      ref={element}
      class="form"
      onSubmit={event => {
        event.preventDefault();
        if (!busy) void send();
      }}
    >
      {children({ id: name.replaceAll(/\W/g, "-"), values, set, markEdited, faults, theirs })}
      {elsewhere && (
        <Failure
          of={Object.assign(Object.create(Object.getPrototypeOf(problem)) as Problem, problem, { document: elsewhere })}
        />
      )}
      {effects && <Effects of={effects} />}
      <p class="actions">
        <button aria-disabled={busy}>{busy ? "Working …" : effects ? `${button}, with these effects` : button}</button>
        {effects ? (
          <button type="button" class="plain" onClick={() => setEffects(undefined)}>
            Cancel
          </button>
        ) : (
          !same(values, base) && (
            <button
              type="button"
              class="plain"
              onClick={() => {
                setValues(base);
                setProblem(undefined);
              }}
            >
              Start over
            </button>
          )
        )}
      </p>
    </form>
  );
}

/** leaves lists the paths of members of either that are no objects. */
function leaves(a: Values, b: Values, at = ""): string[] {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap(name => {
    const [x, y] = [a[name], b[name]];
    return isObject(x) || isObject(y)
      ? leaves(isObject(x) ? x : {}, isObject(y) ? y : {}, `${at}${name}/`)
      : [at + name];
  });
}

const effectWords: Record<Schemas["Effect"]["kind"], string> = {
  audience: "Who sees it",
  evaluation: "Runs are evaluated again",
  quota: "Counts towards your quota",
  audit: "Kept in the audit trail",
  news: "People are notified",
  terms: "Teams must accept the terms",
};
const audiences: Record<string, string> = {
  "": "nobody",
  everyone: "everyone",
  registrants: "the organizers and the teams they accepted",
  owners: "the team and the organizers",
  organizers: "the organizers",
};

/** Effects says what a change would do, as the API's preview has it. */
export const Effects = ({ of }: { of: Schemas["Effect"][] }) => (
  <div class="effects" role="status">
    <h3>What this will do</h3>
    <ul>
      {of.map((e, i) => (
        <li key={i}>
          {e.kind === "news" && e.detail ? `${effectWords.news}: ${e.detail}` : (e.detail ?? effectWords[e.kind])}
          {e.count !== undefined && ` (${e.count})`}
          {(e.before !== undefined || e.after !== undefined) && (
            <>
              : {audiences[e.before ?? ""] ?? e.before} → <strong>{audiences[e.after ?? ""] ?? e.after}</strong>
            </>
          )}
        </li>
      ))}
    </ul>
  </div>
);

// The parts of which screens consist: headings, lists, tables, buttons, and the states of data while it loads or fails.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Listing, Loading } from "../data";
import { sentencesOf } from "../member_names";
import { gone, type Problem } from "../problem";
import { refusalOf, useSettled } from "../refresh";
import { canPass } from "../retry";

/** Heading is the h1 of a screen. It names the tab, and gets the focus after the screen has changed. */
export function Heading({ children, title }: { children: ComponentChildren; title: string }) {
  useEffect(() => {
    document.title = `${title} · Assay`;
  }, [title]);
  return <h1 tabIndex={-1}>{children}</h1>;
}

/** Failure shows a problem in the words of its document. It offers to try again if that can help. */
export function Failure({ of, retry }: { of: Problem; retry?: () => unknown }) {
  const { requestId, status } = of.document;
  if (status === 401)
    return (
      <p class="empty">
        <a href={`#/sign-in?to=${encodeURIComponent(location.hash.slice(1))}`}>Sign in</a> to see this.
      </p>
    );
  return (
    <div class="failure" role="alert" tabIndex={-1}>
      {sentencesOf(of.document).map(said => (
        <p key={said}>{said}</p>
      ))}
      {retry && canPass(status) && (
        <button type="button" class="plain" onClick={() => void retry()}>
          Try again
        </button>
      )}
      {requestId && status! >= 500 && (
        <p class="small quiet">If this persists, tell those who run this server, and quote the request {requestId}.</p>
      )}
    </div>
  );
}

/**
 * Loaded shows its children once the data is read. The title is the heading of the screen until then. If reading again
 * fails, the former data stays, unless the resource no longer exists for the reader.
 */
export function Loaded<T>({
  of,
  title,
  children,
}: {
  of: Loading<T>;
  title?: string;
  children: (data: T) => ComponentChildren;
}) {
  if (of.data !== undefined && !gone(of.error)) return <>{children(of.data)}</>;
  if (of.error)
    return (
      <>
        {title && <Heading title={title}>{title}</Heading>}
        <Failure of={of.error} retry={() => of.mutate()} />
      </>
    );
  return <Busy />;
}

/** Unread says what a screen lacks because other data cannot be read, and why. It shows nothing once the data is read. */
export const Unread = <T,>({ of, children }: { of: Loading<T>; children: ComponentChildren }) =>
  of.error && of.data === undefined ? (
    <>
      <p class="notice" role="status">
        {children}
      </p>
      <Failure of={of.error} retry={() => of.mutate()} />
    </>
  ) : null;

/** Busy is the placeholder for data that is being read. */
export const Busy = () => (
  <p class="busy quiet" aria-busy="true">
    Loading …
  </p>
);

/** Items shows a list, a text for an empty list, and a button for the next page. */
export function Items<T>({
  of,
  empty,
  children,
}: {
  of: Listing<T>;
  empty: ComponentChildren;
  children: (items: T[]) => ComponentChildren;
}) {
  if (!of.items || gone(of.error)) return of.error ? <Failure of={of.error} retry={of.reload} /> : <Busy />;
  return (
    <>
      {of.items.length === 0 ? <div class="empty">{empty}</div> : children(of.items)}
      {of.error && <Failure of={of.error} retry={of.reload} />}
      {of.more && (
        <p>
          <button type="button" class="plain" disabled={of.loadingMore} onClick={of.more}>
            Show more
          </button>
        </p>
      )}
    </>
  );
}

type OfItems<T> = {
  of: Listing<T>;
  empty: ComponentChildren;
  children: (item: T) => ComponentChildren;
  first?: (item: T) => unknown;
};

/** Listed shows a list with a row for each item. Items for which first is true come first. */
export const Listed = <T extends { id: string }>({ of, empty, children, first }: OfItems<T>) => (
  <Items of={of} empty={empty}>
    {items => (
      <ul class="rows">
        {[...items]
          .sort((a, b) => (first ? Number(!first(a)) - Number(!first(b)) : 0))
          .map(i => (
            <li key={i.id}>{children(i)}</li>
          ))}
      </ul>
    )}
  </Items>
);

type Head = (string | { number: string })[];

/** Table is a table that scrolls if it is wider than the page. Columns of numbers are aligned to the right. */
export const Table = ({
  label,
  head,
  named,
  children,
}: {
  label: string;
  head: Head;
  named?: boolean;
  children: ComponentChildren;
}) => (
  <div class={named ? "scroll named" : "scroll"} tabIndex={0} role="group" aria-label={label}>
    <table>
      <thead>
        <tr>
          {head.map((h, i) =>
            typeof h === "string" ? (
              <th key={i} scope="col">
                {h}
              </th>
            ) : (
              <th key={i} scope="col" class="number">
                <bdi>{h.number}</bdi>
              </th>
            ),
          )}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </div>
);

/** Row is a row of a Table: its heading, numbers, and then other cells. */
export const Row = ({
  head,
  numbers,
  children,
}: {
  head: ComponentChildren;
  numbers: ComponentChildren[];
  children?: ComponentChildren;
}) => (
  <tr>
    <th scope="row">{head}</th>
    {numbers.map((n, i) => (
      <td key={i} class="number">
        {n}
      </td>
    ))}
    {children}
  </tr>
);

/** Members is a list of names and values. */
export const Members = ({ of }: { of: [name: ComponentChildren, value: ComponentChildren][] }) => (
  <dl class="members">
    {of.flatMap(([name, value], i) => [<dt key={`name ${i}`}>{name}</dt>, <dd key={i}>{value}</dd>])}
  </dl>
);

/**
 * passFocus moves the focus from a button that is removed to the heading above it. Keyboards and screen readers
 * continue there.
 */
function passFocus(from: HTMLElement | null): void {
  if (!from || document.activeElement !== from) return;
  const above = [...document.querySelectorAll<HTMLElement>("main h1, main h2:not(article h2)")].filter(
    h => h.compareDocumentPosition(from) & Node.DOCUMENT_POSITION_FOLLOWING,
  );
  const heading = above.at(from.closest("main") ? -1 : 0);
  heading?.setAttribute("tabindex", "-1");
  heading?.focus({ preventScroll: true });
}

type Acts = {
  run: () => Promise<unknown>;
  children: ComponentChildren;
  plain?: boolean;
  label?: string;
  /** ask is a question, or computes one when the button is pressed. */
  ask?: ComponentChildren | (() => Promise<ComponentChildren>);
};

/**
 * Action is a button that runs an action, and shows its error. With ask, it asks for a confirmation first, because the
 * action cannot be undone, or because others learn of it.
 */
export function Action({ run, children, plain, label, ask }: Acts) {
  const [busy, setBusy] = useState(false);
  const [asked, setAsked] = useState<ComponentChildren>();
  const [failed, setFailed] = useState<Problem>();
  const button = useRef<HTMLButtonElement>(null);
  const settled = useSettled();
  useEffect(() => setFailed(undefined), [settled]);
  useEffect(() => () => passFocus(button.current), []);
  const act = async (): Promise<void> => {
    button.current?.focus(); // The other button is removed.
    await attempt(run);
    setAsked(undefined);
  };
  const attempt = async (what: () => Promise<unknown>): Promise<void> => {
    if (busy) return;
    setBusy(true);
    setFailed(undefined);
    try {
      await what();
    } catch (error) {
      setFailed(refusalOf(error));
    }
    setBusy(false);
  };
  const press = (): void => {
    if (asked) setAsked(undefined);
    else if (typeof ask === "function") void attempt(async () => setAsked(await ask()));
    else if (ask) setAsked(ask);
    else void act();
  };
  // The pressed button becomes the button to cancel, so that a double click does nothing.
  return (
    <>
      {asked && (
        <>
          <span role="alert">{asked}</span>
          <button type="button" class="plain" onClick={() => void act()}>
            Yes, go on
          </button>
        </>
      )}
      <button
        ref={button}
        type="button"
        class={plain ? "plain" : ""}
        aria-label={asked ? undefined : label}
        aria-disabled={busy}
        onClick={press}
      >
        {asked ? "Cancel" : children}
      </button>
      {failed && <Failure of={failed} />}
    </>
  );
}

/** Code shows lines, with a button that copies them. */
export function Code({ label, children }: { label: string; children: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(children);
    setCopied(true);
    setTimeout(() => setCopied(false), 3000);
  };
  return (
    <div class="code">
      <pre tabIndex={0} role="group" aria-label={label}>
        <code>{children}</code>
      </pre>
      <Action plain label={`Copy: ${label}`} run={copy}>
        {copied ? "Copied" : "Copy"}
      </Action>
    </div>
  );
}

/** Tag is a word that marks something, such as a state. */
export const Tag = ({ children, kind }: { children: ComponentChildren; kind?: "good" | "bad" | "warm" }) => (
  <span class={`tag ${kind ?? ""}`}>{children}</span>
);

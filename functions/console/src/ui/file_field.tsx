// The field of a file, which is chosen or dropped, and the diagnostics of the server, each with its line.
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { Schemas } from "../api";
import { faultsOf, isNote, placeOf } from "../faults";
import { Table, Tag } from "./show";

type Props = {
  label: string;
  hint?: ComponentChildren;
  multiple?: boolean;
  accept?: string;
  chosen: File[];
  choose: (files: File[]) => void;
};

export function FileField({ label, hint, multiple, accept, chosen, choose }: Props) {
  const [over, setOver] = useState(false);
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const empty = chosen.length === 0;
  useEffect(() => {
    if (empty && input.current) input.current.value = ""; // The browser would show the file that is no longer chosen.
  }, [empty]);
  const take = (list: FileList | null | undefined): void => {
    if (list?.length) choose(multiple ? [...list] : [...list].slice(0, 1));
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is optional; the input works with every device
    <div
      class={`drop ${over ? "over" : ""}`}
      onDragOver={e => {
        e.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={e => {
        e.preventDefault();
        setOver(false);
        take(e.dataTransfer?.files);
      }}
    >
      <label for={id}>{label}</label>
      <input
        ref={input}
        id={id}
        type="file"
        multiple={multiple}
        accept={accept}
        onChange={e => take(e.currentTarget.files)}
      />
      <p class="hint">
        {chosen.length === 0 && (hint ?? "Drop a file here, or choose one.")}
        {chosen.length > 1 && chosen.map(f => f.name).join(", ")}
      </p>
    </div>
  );
}

/** Diagnostics lists notes, and then the faults of files. */
export const Diagnostics = ({ of, lines }: { of: Schemas["Diagnostic"][]; lines?: Map<number, string> }) => (
  <>
    {of.filter(isNote).map(d => (
      <p key={d.message}>
        <Tag kind="warm">{d.severity}</Tag> {d.message}
      </p>
    ))}
    <Faults of={of.filter(d => !isNote(d))} {...(lines && { lines })} />
  </>
);

/** Faults lists the faults of files, each with its lines, and with the text of the first one if the file is in the browser. */
function Faults({ of, lines }: { of: Schemas["Diagnostic"][]; lines?: Map<number, string> }) {
  const [most, setMost] = useState(10);
  if (of.length === 0) return null;
  const faults = faultsOf(of);
  return (
    <>
      <Table label="What is wrong" head={["Lines", "What is wrong"]}>
        {of.slice(0, most).map((d, i) => (
          <tr key={i}>
            <td class="number">{placeOf(d)}</td>
            <td>
              <Tag kind={d.severity === "error" ? "bad" : "warm"}>{d.severity}</Tag>{" "}
              {d.file && <bdi class="quiet">{d.file} </bdi>}
              {d.message}
              {d.line !== undefined && lines?.has(d.line) && (
                <>
                  <br />
                  <code>{lines.get(d.line)}</code>
                </>
              )}
            </td>
          </tr>
        ))}
      </Table>
      {of.length > most && (
        <p>
          <button type="button" class="plain" onClick={() => setMost(of.length)}>
            Show all {of.length}
          </button>
        </p>
      )}
      {faults > of.length && <p class="small quiet">{faults} faults in all.</p>}
    </>
  );
}

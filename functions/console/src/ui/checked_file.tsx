// The field of a file that the server checks as soon as it is chosen, before it is uploaded.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Schemas } from "../api";
import { convert } from "../convert";
import { type Problem, toProblem } from "../problem";
import { type Verdict, validate } from "../validate";
import { Diagnostics, FileField } from "./file_field";
import { bytes } from "./files";
import { Action, Failure, Tag } from "./show";

type Props = {
  label: string;
  hint?: ComponentChildren;
  chosen: File | undefined;
  choose: (file: File) => void;
  as: (files: { name: string; content: string }[]) => Schemas["ValidatorInput"];
  good: string;
  bad: string;
  /** refused holds the faults with which the server refused a submission of the file. */
  refused?: Schemas["Diagnostic"][];
};

export function CheckedFile({ label, hint, chosen, choose, as, good, bad, refused = [] }: Props) {
  const [verdict, setVerdict] = useState<Verdict | "asking" | "later">();
  const [problem, setProblem] = useState<Problem>();
  const [made, setMade] = useState<File>(); // by a conversion
  useEffect(() => {
    setProblem(undefined);
    setVerdict(chosen && "asking");
    if (!chosen) return undefined;
    let current = true;
    validate(chosen, as).then(
      v => current && setVerdict(v ?? "later"),
      (error: unknown) => {
        if (!current) return;
        setVerdict(undefined);
        setProblem(toProblem(error));
      },
    );
    return () => {
      current = false;
    };
  }, [chosen, JSON.stringify(as([]))]);
  const take = (file: File): void => {
    setMade(file);
    choose(file);
  };
  const checked = typeof verdict === "object" ? verdict : undefined;
  const known = checked && !checked.valid;
  return (
    <>
      <FileField label={label} hint={hint} chosen={chosen ? [chosen] : []} choose={([file]) => choose(file!)} />
      <div role="status">
        {made && made === chosen && (
          <p>
            The file was converted to <bdi>{made.name}</bdi>.
          </p>
        )}
        {verdict === "asking" && <p>The server reads the file …</p>}
        {verdict === "later" && <p>The file has {bytes(chosen?.size)}: it is checked once it is uploaded.</p>}
        {checked && (refused.length === 0 || known) && <p>{summaryOf(checked, good, bad)}</p>}
        {refused.length > 0 && !known && (
          <p>
            <Tag kind="bad">not valid</Tag> {bad}
          </p>
        )}
      </div>
      {checked && (refused.length === 0 || known) && <Diagnostics of={checked.diagnostics} lines={checked.lines} />}
      {!known && <Diagnostics of={refused} lines={checked?.lines} />}
      {chosen && checked?.conversion && <Convert file={chosen} of={checked} choose={take} />}
      {problem && <Failure of={problem} />}
    </>
  );
}

/** Convert offers to choose the file in the expected format, as the server converts it. The new file is checked too. */
function Convert({ file, of: { of, conversion }, choose }: { file: File; of: Verdict; choose: (file: File) => void }) {
  const act = async (): Promise<void> => choose(await convert(file, of, conversion!));
  return (
    <p>
      The file seems to be in another format, which the server can convert.{" "}
      <Action plain run={act}>
        Convert and check
      </Action>
    </p>
  );
}

function summaryOf(verdict: Verdict, good: string, bad: string) {
  if (!verdict.valid)
    return (
      <>
        <Tag kind="bad">not valid</Tag> {bad}
      </>
    );
  if (verdict.diagnostics.length === 0)
    return (
      <>
        <Tag kind="good">valid</Tag> {good}
      </>
    );
  return (
    <>
      <Tag kind="warm">valid, with warnings</Tag> Read them first: the file may not be what you mean to send. {good}
    </>
  );
}

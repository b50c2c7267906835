// Faults of the files of a request.
import type { Schemas } from "./api";
import { inWords } from "./member_names";

type Fault = Schemas["ProblemField"];
type Diagnostic = Schemas["Diagnostic"];

/** diagnosticsOf returns the faults of the file at a place of the member files as diagnostics, with their lines. */
export function diagnosticsOf(faults: Fault[], at: number): Diagnostic[] {
  return faults.filter(({ pointer }) => `${pointer}/`.startsWith(`/files/${at}/`)).map(diagnosticOf);
}

function diagnosticOf(fault: Fault): Diagnostic {
  const said = inWords(fault);
  const [all, lines] = /^lines? (\d[^:]*): /.exec(said) ?? [];
  if (!all || !lines) return { severity: "error", message: said };
  const message = said.slice(all.length);
  const line = Number.parseInt(lines, 10); // of several lines, the first
  return { severity: "error", line, message, ...(/\D/.test(lines) && { lines }) };
}

/** ofFile reports whether a fault concerns one file. */
export const ofFile = ({ pointer }: Fault): boolean => /^\/files\/\d+(\/|$)/.test(pointer);

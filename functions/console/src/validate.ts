// Checking a file on the server before it is uploaded.
import { client, ok, type Schemas } from "./api";
import { read } from "./data";
import { linesOf } from "./lines";
import { packed } from "./upload";

const unpacked = 60 << 20; // a little less than the limit of tools

export type Verdict = Pick<Schemas["ValidatorOutput"], "valid" | "diagnostics" | "of" | "conversion"> & {
  lines: Map<number, string>;
};

/** validate returns the diagnostics of the server for a file, or undefined if the file is too large for a check. */
export async function validate(
  file: File,
  of: (content: { name: string; content: string }[]) => Schemas["ValidatorInput"],
): Promise<Verdict | undefined> {
  if (file.size > unpacked) return undefined;
  const { limits } = await read("/info", {});
  const content = await packed(file, limits.body - 4096);
  if (content === undefined) return undefined;
  const said = await ok(client.POST("/v1/tools/validator", { body: of([{ name: file.name, content }]) }));
  const numbers = said.diagnostics.flatMap(d => d.line ?? []);
  return { ...said, lines: await linesOf(file, numbers) };
}

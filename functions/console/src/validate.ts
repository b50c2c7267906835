// Asking the server what is wrong with a file before it is sent for good.
import { client, ok, type Schemas } from "./api";
import { read } from "./data";
import { linesOf } from "./lines";
import { packed } from "./upload";

const unpacked = 60 << 20; // a little less than tools take

export type Verdict = { valid: boolean; diagnostics: Schemas["Diagnostic"][]; lines: Map<number, string> };

/** validate returns what the server says of a file; undefined when it is too large to ask before it is uploaded. */
export async function validate(
  file: File,
  of: (content: { name: string; content: string }[]) => Schemas["ValidatorInput"],
): Promise<Verdict | undefined> {
  if (file.size > unpacked) return undefined;
  const { limits } = await read("/info", {});
  const content = await packed(file, limits.body - 4096);
  if (content === undefined) return undefined;
  const { valid, diagnostics } = await ok(
    client.POST("/v1/tools/validator", { body: of([{ name: file.name, content }]) }),
  );
  const numbers = diagnostics.flatMap(d => d.line ?? []);
  return { valid, diagnostics, lines: await linesOf(file, numbers) };
}

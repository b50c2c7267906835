// Converting a file on the server into the format that a dataset takes.
import type { Schemas } from "./api";
import { read } from "./data";
import { convertedName } from "./run_formats";
import { fetchAs } from "./ui/download";
import { packed } from "./upload";

type Conversion = Schemas["ConversionSettings"];

/** convert returns the file as the server converts it. of says whether it is a run or a ground truth. */
export async function convert(file: File, of: "run" | "truth", how: Conversion): Promise<File> {
  const { limits } = await read("/info", {});
  const content = await packed(file, limits.body - 4096);
  if (content === undefined)
    throw new Error("The file is too large to be converted here. Convert it with assay convert.");
  const files = [{ name: file.name, content }];
  const judgments = of === "truth" && !how.kind;
  const body = { ...how, ...(judgments ? { qrels: { files } } : { run: { files } }) };
  const made = await fetchAs("/v1/tools/converter", "text/plain", body);
  return new File([made], convertedName(file.name, how.to));
}

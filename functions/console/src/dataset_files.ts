// The files of a dataset. Small files are in the request of the dataset. Other files are declared by size and digest in
// the request, and then uploaded to the object store.
import type { Schemas } from "./api";
import { read } from "./data";
import { declare, inline, send } from "./upload";

type Dataset = Schemas["Dataset"];
type Given = Schemas["File"];
export type Part = "inputs" | "truths";
export type Added = Record<Part, File[]>;
export type Tell = (name: string, doing: string, share: number) => void;

/** kept returns a stored file in the form in which requests name it. */
export const kept = ({ name, size, sha256, mediaType }: Given): Given => ({ name, size, sha256, mediaType });

const digests = new WeakMap<File, Promise<Given>>();

/**
 * withAdded returns the lists of files with the new files. A new file replaces a file of the same name.
 */
export async function withAdded(stay: Record<Part, Given[]>, added: Added, tell: Tell): Promise<Record<Part, Given[]>> {
  const { limits } = await read("/info", {});
  const small = [...added.inputs, ...added.truths].reduce((sum, f) => sum + f.size, 0) <= limits.inlineFiles;
  const given = async (file: File): Promise<Given> => {
    if (small) return { name: file.name, content: await inline(file) };
    const begun = digests.get(file);
    if (begun) return begun;
    const digest = declare(file, share => tell(file.name, "Reading", share));
    digests.set(file, digest);
    return digest;
  };
  const of = async (part: Part): Promise<Given[]> => [
    ...stay[part].filter(s => !added[part].some(a => a.name === s.name)),
    ...(await Promise.all(added[part].map(given))),
  ];
  return { inputs: await of("inputs"), truths: await of("truths") };
}

/** uploadTo uploads the new files of a dataset that were not in its request. */
export async function uploadTo(datasetId: string, added: Added, tell: Tell, signal: AbortSignal): Promise<void> {
  for (const part of ["inputs", "truths"] as const) {
    for (const file of added[part]) {
      const link = async (): Promise<Schemas["Upload"] | undefined> => {
        const now: Dataset = await read("/v1/datasets/{datasetId}", { path: { datasetId } });
        const at = now[part]?.find(f => f.name === file.name);
        return at?.state === "stored" ? undefined : at?.upload;
      };
      await send(file, link, share => tell(file.name, "Sending", share), signal);
    }
  }
}

// Uploads to the object store. A file is declared by size and digest, sent with progress, and sent again after a broken
// connection.
import type { Schemas } from "./api";
import { loadPart } from "./parts";
import { waiting } from "./ui/status";

const chunk = 4 << 20;

export type Declared = { name: string; size: number; sha256: string };
export type Progress = (share: number) => void;

const unlessStopped = (signal: AbortSignal | undefined): void => {
  if (signal?.aborted) throw new Error("The upload was stopped.");
};

/** declare computes the digest of a file. It reads the file in chunks, so that its size is not limited by memory. */
export async function declare(file: File, progress: Progress, signal?: AbortSignal): Promise<Declared> {
  progress(0);
  const { sha256 } = await loadPart(() => import("@noble/hashes/sha2.js"));
  const hash = sha256.create();
  for (let at = 0; at < file.size; at += chunk) {
    unlessStopped(signal);
    hash.update(new Uint8Array(await file.slice(at, at + chunk).arrayBuffer()));
    progress(Math.min(1, (at + chunk) / file.size));
  }
  return {
    name: file.name,
    size: file.size,
    sha256: [...hash.digest()].map(b => b.toString(16).padStart(2, "0")).join(""),
  };
}

/** inline returns the content of a file in base64, for requests. */
export const inline = async (blob: Blob): Promise<string> => {
  let text = "";
  const bytes = new Uint8Array(await blob.arrayBuffer());
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
};

/** isPacked reports whether a file begins like a gzip file (RFC 1952, section 2.3.1). */
export async function isPacked(file: Blob): Promise<boolean> {
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  return first === 0x1f && second === 0x8b;
}

/** packed returns the content packed with gzip in base64, for tools, or undefined if that exceeds most bytes. */
export async function packed(file: File, most: number): Promise<string | undefined> {
  const blob = (await isPacked(file))
    ? file
    : await new Response(file.stream().pipeThrough(new CompressionStream("gzip"))).blob();
  return (blob.size * 4) / 3 <= most ? inline(blob) : undefined;
}

/**
 * send sends a file to the object store. link returns the link for an upload, or undefined if the file is stored
 * already. send calls it again after a link has expired or the connection broke.
 */
export async function send(
  file: File,
  link: () => Promise<Schemas["Upload"] | undefined>,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const to = await link();
    unlessStopped(signal);
    if (!to) return;
    const status = await put(to, file, progress, signal);
    // 412: an earlier attempt whose answer got lost has stored the file.
    if ((status >= 200 && status < 300) || status === 412) return progress(1);
    if (status === 400)
      throw new Error(
        `The object store refused ${file.name}: it has changed since you chose it, or arrived damaged. Choose it again.`,
      );
    const done = waiting(`The upload of ${file.name} broke. It begins again by itself.`);
    await new Promise(next => {
      setTimeout(next, Math.min(1000 * 2 ** attempt, 15_000));
      signal.addEventListener("abort", next, { once: true });
    });
    done();
  }
}

/** put resolves with the status of the answer, or with 0 without an answer. Fetch would report no progress. */
function put(to: Schemas["Upload"], file: File, progress: Progress, signal: AbortSignal): Promise<number> {
  return new Promise((done, fail) => {
    const request = new XMLHttpRequest();
    request.open(to.method, to.url);
    for (const [name, value] of Object.entries(to.headers)) request.setRequestHeader(name, String(value));
    request.upload.onprogress = e => progress(e.loaded / Math.max(e.total, 1));
    request.onload = () => done(request.status);
    request.onerror = () => done(0);
    request.onabort = () => fail(new Error("The upload was stopped."));
    signal.addEventListener("abort", () => request.abort(), { once: true });
    request.send(file);
  });
}

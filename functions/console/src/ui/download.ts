// Files that the API answers, which links can't ask for, because they send no token.
import { Problem, persistentFetch, type ProblemDocument } from "../api";

/** fetchAs returns an answer in the media type, of a GET or, with a body, of a POST. */
export async function fetchAs(path: string, mediaType: string, body?: object): Promise<Blob> {
  const answer = await persistentFetch(new Request(new URL(path, location.origin), {
    headers: { Accept: mediaType, ...(body && { "Content-Type": "application/json" }) }, ...(body && { method: "POST", body: JSON.stringify(body) }),
  }));
  if (answer.status === 204) throw new Problem({ title: "Nothing", detail: "There is nothing to download yet." });
  if (!answer.ok) throw new Problem((await answer.json()) as ProblemDocument);
  return answer.blob();
}

/** download saves an answer as a file. */
export async function download(path: string, mediaType: string, name: string, body?: object): Promise<void> {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await fetchAs(path, mediaType, body));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

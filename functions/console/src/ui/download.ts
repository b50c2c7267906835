// Downloads from the API. They need a token, and links send no token.
import { persistentFetch } from "../api";
import { Problem, type ProblemDocument } from "../problem";

async function answerAs(path: string, mediaType: string, body?: object): Promise<Response> {
  const answer = await persistentFetch(
    new Request(new URL(path, location.origin), {
      headers: { Accept: mediaType, ...(body && { "Content-Type": "application/json" }) },
      ...(body && { method: "POST", body: JSON.stringify(body) }),
    }),
  );
  if (answer.status === 204) throw new Problem({ title: "Nothing", detail: "There is nothing to download yet." });
  if (!answer.ok) throw new Problem((await answer.json()) as ProblemDocument);
  return answer;
}

/** fetchAs returns the answer to a GET, or with a body to a POST, in the media type. */
export const fetchAs = async (path: string, mediaType: string, body?: object): Promise<Blob> =>
  (await answerAs(path, mediaType, body)).blob();

function save(content: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** download saves an answer as a file. */
export async function download(path: string, mediaType: string, name: string, body?: object): Promise<void> {
  save(await fetchAs(path, mediaType, body), name);
}

/** downloadList saves all pages of a list as one table. */
export async function downloadList(path: string, name: string): Promise<void> {
  const parts: string[] = [];
  for (let next: string | undefined = path; next; ) {
    const answer: Response = await answerAs(next, "text/csv");
    const lines = await answer.text();
    // Each page begins with the names of the columns.
    parts.push(parts.length === 0 ? lines : lines.slice(lines.indexOf("\n") + 1));
    next = /<([^>]+)>; rel="next"/.exec(answer.headers.get("Link") ?? "")?.[1];
  }
  save(new Blob(parts, { type: "text/csv" }), name);
}

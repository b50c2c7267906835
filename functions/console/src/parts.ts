// The parts of the application that are loaded when they are first shown. Their names change with each build, and a
// browser does not load a part again in the same page once that failed. So the page itself is loaded again.
import { Problem } from "./problem";

const key = "left build";

const shell = (): string => `${location.origin}${location.pathname}`;

/** newest returns the page that loads the application as the server has it now. */
const newest = async (): Promise<string> => {
  const answer = await fetch(shell(), { cache: "no-cache" });
  if (!answer.ok) throw new Error(`The server answered ${answer.status}.`);
  return answer.text();
};

/** replaced reports whether the page names another script than the script of this application. */
export const replaced = (page: string, script: string): boolean => !page.includes(script.split("/").at(-1)!);

/** PartMissing is the error of a part that could not be loaded. */
export class PartMissing extends Problem {
  constructor() {
    super({
      title: "Not loaded",
      detail: "A part of the page could not be loaded. What you entered is still here: try again when you are online.",
    });
  }
}

/**
 * loadPart returns a part of the application. If the part cannot be loaded because the server has a new build, loadPart
 * loads the page again: sessions and drafts stay. Otherwise it fails with PartMissing.
 */
export async function loadPart<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch {
    const page = await newest().catch(() => undefined);
    const script = document.querySelector<HTMLScriptElement>("script[src]")?.src ?? "";
    if (!page || !replaced(page, script) || script === sessionStorage.getItem(key)) throw new PartMissing();
    sessionStorage.setItem(key, script); // During an upgrade, several builds may answer. Each is left once.
    location.reload();
    return new Promise(() => undefined);
  }
}

/** reload loads the page again if the server answers, and fails with PartMissing otherwise. */
export async function reload(): Promise<void> {
  await newest().catch(() => {
    throw new PartMissing();
  });
  location.reload();
}

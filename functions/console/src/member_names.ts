// Names of members of the API in texts that people read.

/** labelOf returns the label of a member's field in quotes, if the screen has exactly one such field. */
function labelOf(name: string): string | undefined {
  const all = new Set(
    [...document.querySelectorAll(`[data-field="${name}"] label, [data-field$="/${name}"] label`)].map(
      l => l.textContent,
    ),
  );
  return all.size === 1 ? `“${[...all][0]}”` : undefined;
}

/** separate returns the words of a name: "closes at" for closesAt. */
export const separate = (name: string): string => name.replace(/[A-Z]/g, c => ` ${c.toLowerCase()}`);

/**
 * inWords replaces names of members, such as closesAt, with their labels or their words. It leaves quoted text
 * unchanged.
 */
export function inWords(detail: string, label = labelOf): string {
  const parts = detail.split(/("[^"]*")/);
  return parts.map((part, i) => (i % 2 === 1 ? part : renameMembers(part, label))).join("");
}

const renameMembers = (text: string, label: typeof labelOf): string =>
  text.replaceAll("`", "").replace(/\b[a-z]+(?:[A-Z][a-z]*)+\b/g, name => label(name) ?? separate(name));

/**
 * memberOf returns the last named member of a JSON Pointer in words, and a colon. It is empty for the whole document.
 */
export function memberOf(pointer: string, label = labelOf): string {
  const names = pointer.split("/").filter(part => part && !/^\d+$/.test(part));
  const name = names.at(-1);
  return name ? `${inWords(name, label)}: ` : "";
}

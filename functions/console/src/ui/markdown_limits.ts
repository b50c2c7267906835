// How much Markdown is parsed. The time of the parser grows with the square of the marks that stand close together.

const maxDepth = 8;
const maxMarks = 500;

const count = (text: string, marks: RegExp): number => text.match(marks)?.length ?? 0;

/** tooComplex reports whether marks stand deeper or denser than people write. The public pages have the same limits. */
export function tooComplex(source: string): boolean {
  const lines = source.split(/\r\n?|\n/).map(l => l.trim());
  const blocks = lines.join("\n").split("\n\n");
  const hasDefinitions = source.includes("]:");
  return (
    (hasDefinitions && count(source, /\[/g) > maxMarks) ||
    blocks.some(block => count(block, /[[*_~]/g) > maxMarks) ||
    lines.some(line => depthOf(line) > maxDepth)
  );
}

/** depthOf returns how many quotations and lists begin on a line. A line of dashes, stars or underscores is a rule. */
function depthOf(line: string): number {
  if (!/[^-*_ \t]/.test(line)) return 0;
  const marks = /^(?:[ \t]*(?:>|(?:[-+*]|\d+[.)])(?=[ \t]|$)))*/.exec(line)![0];
  return count(marks, /[>+*.)-]/g);
}

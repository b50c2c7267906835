// Limits of the Markdown that is parsed. The parser takes quadratic time in the number of marks that stand close
// together.

const maxDepth = 8;
const maxMarks = 500;

const count = (text: string, marks: RegExp): number => text.match(marks)?.length ?? 0;

/** tooComplex reports whether marks are deeper or denser than in texts of people. Public pages have the same limits. */
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

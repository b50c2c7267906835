// Sentences about the columns of a leaderboard or a run that some readers do not see now.
import { fromInWords, isForEveryone, isWaiting, type Reader, ruleInWords } from "./column_rules";
import { type Column, columnName } from "./columns";

/** ruleSentence says who sees a column, and from when. It is empty for a column that everyone sees at once. */
export function ruleSentence(c: Column): string {
  const said = ruleInWords(c);
  return said && ` ${said.charAt(0).toUpperCase()}${said.slice(1)}.`;
}

/** hiddenNote names the columns that only organizers or teams see now, to organizers. It is empty without such columns. */
export function hiddenNote(hidden: Column[]): string {
  const named = hidden.map(c => columnName(c) + (ruleInWords(c) && ` (${ruleInWords(c)})`));
  return named.length > 0 ? `Others do not see these columns now: ${named.join("; ")}.` : "";
}

/**
 * laterNote names the columns of a dataset that the reader does not see yet, and from when the reader does. shown are the keys of the columns
 * that the reader sees. It is empty without such columns.
 */
export function laterNote(columns: Column[] = [], shown: string[], reader: Reader, now = Date.now()): string {
  if (reader === "organizers") return "";
  const named = columns
    .filter(c => !shown.includes(c.key) && c.audience !== "organizers" && isWaiting(c, now))
    .filter(c => reader === "team" || isForEveryone(c))
    .map(c => `${columnName(c)} ${fromInWords(c.from)}`);
  return named.length > 0 ? `More columns are shown later: ${named.join("; ")}.` : "";
}

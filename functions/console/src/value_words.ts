// Values of members in words.
import { type Column, columnInWords } from "./columns";
import { knownName } from "./known_names";
import { moment } from "./ui/time";

const isId = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const isInstant = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** said returns a value in words. Values that say nothing, such as 0 for no limit, are empty. */
export function said(value: unknown): string {
  if (value === true) return "yes";
  if (value === false) return "no";
  if (value === undefined || value === null || value === 0) return "";
  if (Array.isArray(value)) return value.map(said).join(", ");
  if (typeof value === "object") {
    if ("key" in value) return columnInWords(value as Column);
    const { name, ...others } = value as { name?: unknown };
    return name !== undefined ? String(name) : Object.values(others).map(said).filter(Boolean).join(" ");
  }
  const text = String(value);
  if (isId.test(text)) return knownName(text) ?? `…${text.slice(-6)}`;
  return isInstant.test(text) ? moment(text) : text;
}

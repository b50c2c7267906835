// Instants for people: in the zone of the reader, with UTC in the tooltip. Deadlines are also shown in AoE (UTC−12),
// like in calls for papers.
import { Fragment } from "preact";
import { useFreshAt, useInstants } from "./clock";

type Format = (at: Date) => string;

/** exact returns a format that shows seconds unless they are 0. It never rounds up: a window does not close earlier than it says. */
function exact(options: Intl.DateTimeFormatOptions): Format {
  const style = {
    year: "numeric",
    month: "short",
    day: "numeric",
    hour: "numeric",
    minute: "2-digit",
    ...options,
  } as const;
  const minutes = new Intl.DateTimeFormat(undefined, style);
  const seconds = new Intl.DateTimeFormat(undefined, { ...style, second: "2-digit" });
  return at => (at.getUTCSeconds() === 0 ? minutes : seconds).format(at);
}

const zoned = exact({});
const withZone = exact({ timeZoneName: "short" });
const anywhere = exact({ timeZone: "Etc/GMT+12" });
const utc = exact({ timeZone: "UTC" });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });

const day = 86_400; // seconds
const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ["hour", 3600],
  ["minute", 60],
  ["second", 1],
];

/**
 * ago returns the distance of an instant from now, such as "in 3 days". Days are those of the reader's calendar, because
 * the date stands beside them and a day's distance reads "tomorrow". Smaller units are completed ones.
 */
export function ago(at: string, now = Date.now()): string {
  const seconds = (Date.parse(at) - now) / 1000;
  if (Math.abs(seconds) >= day) return relative.format(dayOf(Date.parse(at)) - dayOf(now), "day");
  const [unit, size] = units.find(([, s]) => Math.abs(seconds) >= s) ?? ["second", 1];
  return relative.format(Math.trunc(seconds / size), unit);
}

/** dayOf numbers the days of the calendar in the zone of the reader. */
function dayOf(at: number): number {
  const d = new Date(at);
  return Date.UTC(d.getFullYear(), d.getMonth(), d.getDate()) / 1000 / day;
}

/** moment returns an instant in the zone of the reader. */
export const moment = (at: string): string => zoned(new Date(at));

/** universal returns an instant in UTC. */
export const universal = (at: string): string => `${utc(new Date(at))} UTC`;

/** When shows an instant. The screen is read again when it passes. */
export function When({ at }: { at: string }) {
  useFreshAt([at]);
  return (
    <time dateTime={at} title={`${universal(at)} (${ago(at)})`}>
      {moment(at)}
    </time>
  );
}

/** useAgo is like ago, and renders again as the distance changes: each minute, and each second of the last two minutes. */
function useAgo(at: string): string {
  const now = Date.now();
  const step = Math.abs(Date.parse(at) - now) < 120_000 ? 1000 : 60_000;
  useInstants([new Date(Math.floor(now / step + 1) * step).toISOString()]);
  return ago(at, now);
}

/**
 * Deadline shows a deadline: in the zone of the reader, anywhere on earth, and its distance from now. The screen is read
 * again when it passes.
 */
export function Deadline({ at }: { at: string }) {
  const distance = useAgo(at);
  useFreshAt([at]);
  return (
    <time dateTime={at} title={universal(at)}>
      {withZone(new Date(at))}{" "}
      <span class="quiet">
        ({anywhere(new Date(at))} AoE, {distance})
      </span>
    </time>
  );
}

/** Sentence shows parts of a sentence, some with an instant after them. */
export const Sentence = ({ of }: { of: { said: string; at?: string | undefined }[] }) => (
  <>
    {of.map(({ said, at }) => (
      <Fragment key={said}>
        {said}
        {at && (
          <>
            {" "}
            <Deadline at={at} />
          </>
        )}
      </Fragment>
    ))}
  </>
);

/**
 * toLocal and fromLocal convert an instant to the value of a date and time input in the reader's zone, and back. The
 * value has seconds unless they are 0.
 */
export function toLocal(at: string | null | undefined): string {
  if (!at) return "";
  const d = new Date(at);
  return new Date(d.getTime() - d.getTimezoneOffset() * 60_000)
    .toISOString()
    .slice(0, d.getUTCSeconds() === 0 ? 16 : 19);
}
export const fromLocal = (value: string): string | undefined => (value ? new Date(value).toISOString() : undefined);
export const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** What clocks on the wall show in a time zone, exact over their changes. */
import { dayMs } from "./instant.ts";

const minuteMs = 60_000;

/** `YYYY-MM-DD`, and `HH:MM`, which sort as text. */
export interface WallTime {
  readonly date: string;
  readonly time: string;
}

/** Making one takes a hundred times as long as using it. The zones in use are few; there are 600 in all. */
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timezone: string): Intl.DateTimeFormat {
  // Names are case-insensitive.
  const name = timezone.toLowerCase();
  let format = formats.get(name);
  if (format === undefined) {
    const digits = { month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit" } as const;
    format = new Intl.DateTimeFormat("en", { timeZone: timezone, hourCycle: "h23", year: "numeric", ...digits });
    formats.set(name, format);
  }
  return format;
}

export function toWallTime(timezone: string, atMs: number): WallTime {
  const parts: Partial<Record<Intl.DateTimeFormatPartTypes, string>> = {};
  for (const { type, value } of formatOf(timezone).formatToParts(atMs)) parts[type] = value;
  return { date: `${parts.year}-${parts.month}-${parts.day}`, time: `${parts.hour}:${parts.minute}` };
}

/** As if the wall clock were UTC's. */
const toFakeMs = ({ date, time }: WallTime) => Date.parse(`${date}T${time}:00Z`);

/** What the wall clock is ahead of UTC, in milliseconds. */
export function offsetAt(timezone: string, atMs: number): number {
  const minute = Math.floor(atMs / minuteMs) * minuteMs;
  return toFakeMs(toWallTime(timezone, minute)) - minute;
}

/** When the wall clock shows that, which may be twice; or changes about then, for spans that begin where there is no such time. */
export function listInstants(timezone: string, wall: WallTime): number[] {
  const fakeMs = toFakeMs(wall);
  const before = offsetAt(timezone, fakeMs - dayMs);
  const after = offsetAt(timezone, fakeMs + dayMs);
  if (before === after) return [fakeMs - before];
  return [fakeMs - before, fakeMs - after, findClockChange(timezone, fakeMs - dayMs, fakeMs + dayMs)];
}

/** The first whole minute with another offset than at `fromMs`. */
function findClockChange(timezone: string, fromMs: number, toMs: number): number {
  const before = offsetAt(timezone, fromMs);
  let [low, high] = [fromMs / minuteMs, toMs / minuteMs];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(timezone, middle * minuteMs) === before) low = middle;
    else high = middle;
  }
  return high * minuteMs;
}

/** The first instant of that day, which may begin at one o'clock. */
export function startOfDay(timezone: string, date: string): number {
  const starts = listInstants(timezone, { date, time: "00:00" });
  const own = starts.filter((atMs) => toWallTime(timezone, atMs).date === date);
  // Where the date line moved there is a day that never was.
  return Math.min(...(own.length > 0 ? own : starts));
}

/** Whether it is an IANA zone. An offset is none: it knows no summer. */
export function isTimezone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

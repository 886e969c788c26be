/** Opening hours on a zone's wall clock: whether it is open, and when it opens next; exact over changes of the clock. */
import { dayMs } from "../lib/instant.ts";
import { type OpeningHours, weekdays } from "./handoff.ts";

/** Beyond this nothing is promised, and no more work is done. */
const maxDays = 400;
const minuteMs = 60_000;

/** `YYYY-MM-DD`, and `HH:MM`, which sort as text. */
interface WallTime {
  readonly date: string;
  readonly time: string;
}

/** Making one takes a hundred times as long as using it. The zones in use are few; there are 600 in all. */
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timezone: string): Intl.DateTimeFormat {
  let format = formats.get(timezone);
  if (format === undefined) {
    const digits = { month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit" } as const;
    format = new Intl.DateTimeFormat("en", { timeZone: timezone, hourCycle: "h23", year: "numeric", ...digits });
    formats.set(timezone, format);
  }
  return format;
}

function toWallTime(timezone: string, atMs: number): WallTime {
  const parts: Partial<Record<Intl.DateTimeFormatPartTypes, string>> = {};
  for (const { type, value } of formatOf(timezone).formatToParts(atMs)) parts[type] = value;
  return { date: `${parts.year}-${parts.month}-${parts.day}`, time: `${parts.hour}:${parts.minute}` };
}

/** As if the wall clock were UTC's. */
const toFakeMs = ({ date, time }: WallTime) => Date.parse(`${date}T${time}:00Z`);

function offsetAt(timezone: string, atMs: number): number {
  const minute = Math.floor(atMs / minuteMs) * minuteMs;
  return toFakeMs(toWallTime(timezone, minute)) - minute;
}

function spansOf({ week, closed }: OpeningHours, date: string): readonly [string, string][] {
  if (closed.includes(date)) return [];
  const day = weekdays[(new Date(`${date}T00:00:00Z`).getUTCDay() + 6) % 7];
  return (day && week[day]) ?? [];
}

/** Null is always open. */
export function isOpen(hours: OpeningHours | null, atMs: number): boolean {
  if (hours === null) return true;
  const { date, time } = toWallTime(hours.timezone, atMs);
  return spansOf(hours, date).some(([from, to]) => from <= time && time < to);
}

/** The first instant from `afterMs` on at which it is open; null if there is none in the year that follows. */
export function findNextOpening(hours: OpeningHours | null, afterMs: number): number | null {
  if (hours === null || isOpen(hours, afterMs)) return afterMs;
  const midnight = Date.parse(`${toWallTime(hours.timezone, afterMs).date}T00:00:00Z`);
  for (let day = 0; day <= maxDays; day++) {
    const date = new Date(midnight + day * dayMs).toISOString().slice(0, "YYYY-MM-DD".length);
    const starts = spansOf(hours, date).flatMap(([from]) => listInstants(hours.timezone, { date, time: from }));
    const openings = starts.filter((atMs) => atMs >= afterMs && isOpen(hours, atMs));
    if (openings.length > 0) return Math.min(...openings);
  }
  return null;
}

/** When the wall clock shows that, which may be twice; or changes about then, for spans that begin where there is no such time. */
function listInstants(timezone: string, wall: WallTime): number[] {
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

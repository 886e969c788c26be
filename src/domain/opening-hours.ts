/** Opening hours on a zone's wall clock: whether it is open, and when it opens next; exact over changes of the clock. */
import { dayMs } from "../lib/instant.ts";
import { listInstants, toWallTime } from "../lib/wall-clock.ts";
import { type OpeningHours, weekdays } from "./handoff.ts";

/** Beyond this nothing is promised, and no more work is done. */
const maxDays = 400;

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

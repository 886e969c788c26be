/** Parses days and timestamps as clients write them. */

const dayPattern = /^(\d{4})-(\d{2})-(\d{2})$/;
// A plus sign that was not percent-encoded arrives as a space.
const instantPattern = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(\.\d{1,9})?([Zz]|[+ -]\d{2}:\d{2})$/;

export const dayMs = 86_400_000;

/** Start of the UTC day `YYYY-MM-DD` in epoch milliseconds, or null if there is no such day. */
export function parseDay(text: string): number | null {
  const [, year, month, day] = dayPattern.exec(text) ?? [];
  if (year === undefined) return null;
  const startMs = Date.UTC(Number(year), Number(month) - 1, Number(day));
  // Date turns 30 February into a day in March.
  return startMs > 0 && new Date(startMs).toISOString().startsWith(text) ? startMs : null;
}

/** An RFC 3339 timestamp in epoch milliseconds, or null. */
export function parseInstant(text: string): number | null {
  const [, day, hour, minute, second, fraction = "", zone = ""] = instantPattern.exec(text) ?? [];
  const startMs = day === undefined ? null : parseDay(day);
  if (startMs === null || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null;
  const withinDayMs = ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1000;
  return startMs + withinDayMs + Math.trunc(Number(`0${fraction}`) * 1000) - zoneOffsetMs(zone);
}

function zoneOffsetMs(zone: string): number {
  if (zone.length === 1) return 0;
  const offsetMs = (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4, 6))) * 60_000;
  return zone.startsWith("-") ? -offsetMs : offsetMs;
}

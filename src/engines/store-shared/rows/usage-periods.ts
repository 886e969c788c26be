/** Splits a range of days into whole months, which are already summed, and the days left at both ends. */
import { toUtcDay } from "../../../lib/clock.ts";
import { dayMs } from "../../../lib/instant.ts";

export interface UsagePeriod {
  table: string;
  /** `day` or `month`. */
  column: string;
  /** Both inclusive. */
  from: string;
  to: string;
}

/** The month of the day that is `days` after the given one. */
function monthOf(day: string, days: number): string {
  return new Date(Date.parse(day) + days * dayMs).toISOString().slice(0, 7);
}

function addMonths(month: string, months: number): string {
  const [year = 0, number = 1] = month.split("-").map(Number);
  return new Date(Date.UTC(year, number - 1 + months)).toISOString().slice(0, 7);
}

export function splitPeriod(fromDay: string, toDay: string, isByDay: boolean): UsagePeriod[] {
  const days = { table: "usage_daily", column: "day" };
  const first = fromDay.endsWith("-01") ? monthOf(fromDay, 0) : addMonths(monthOf(fromDay, 0), 1);
  // The next day is in a different month only after the last day of a month.
  const last = addMonths(monthOf(toDay, 1), -1);
  if (isByDay || first > last) return [{ ...days, from: fromDay, to: toDay }];
  return [
    // As text, no day lies between a month's "00" and "01", or after its "32".
    { ...days, from: fromDay, to: `${first}-00` },
    { table: "usage_monthly", column: "month", from: first, to: last },
    { ...days, from: `${last}-32`, to: toDay },
  ];
}

/** All days, both inclusive. */
export function listDays(fromDay: string, toDay: string): string[] {
  const days: string[] = [];
  for (let atMs = Date.parse(fromDay); atMs <= Date.parse(toDay); atMs += dayMs) days.push(toUtcDay(atMs));
  return days;
}

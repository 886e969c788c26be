/** Usage over days: the days, the measures, and the sums. */
import type { UsageRow } from "../lib/types.ts";

export const measures = [
  { name: "messages", label: "Messages", of: (row: UsageRow) => row.messages },
  { name: "tokens", label: "Tokens", of: (row: UsageRow) => row.input_tokens + row.output_tokens },
  { name: "voice", label: "Voice sessions", of: (row: UsageRow) => row.voice_sessions },
  { name: "errors", label: "Failed replies", of: (row: UsageRow) => row.errors },
] as const;

export type Measure = (typeof measures)[number];

export const ranges = [
  { value: "7", label: "Last 7 days" },
  { value: "30", label: "Last 30 days" },
  { value: "90", label: "Last 90 days" },
  { value: "365", label: "Last 12 months" },
] as const;

export interface Series {
  label: string;
  values: number[];
}

const dayMs = 86_400_000;

/** The UTC days up to today, oldest first. */
export function listDays(count: number, nowMs = Date.now()): string[] {
  return Array.from({ length: count }, (_, index) => {
    return new Date(nowMs - (count - 1 - index) * dayMs).toISOString().slice(0, 10);
  });
}

/** One value a day: days without usage have no row. */
export function toSeries(label: string, days: readonly string[], rows: readonly UsageRow[], measure: Measure): Series {
  const byDay = new Map<string, number>();
  for (const row of rows) byDay.set(row.day ?? "", (byDay.get(row.day ?? "") ?? 0) + measure.of(row));
  return { label, values: days.map((day) => byDay.get(day) ?? 0) };
}

export function sumOf(rows: readonly UsageRow[], measure: Measure): number {
  return rows.reduce((sum, row) => sum + measure.of(row), 0);
}

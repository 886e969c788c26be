/** Usage on the wire, as JSON and as CSV. */
import type { FailureRow, UsageGroup, UsageRow } from "../../store/store.ts";

export function toWireFailures({ kind, replies, lastDay }: FailureRow) {
  return { kind, replies, last_day: lastDay };
}

export function toWireQuota(limit: number, used: number) {
  return { limit, used, left: Math.max(0, limit - used) };
}

/** Three years, leap day included. */
export const maxDays = 1096;

export const groups = ["day", "companion", "key"] as const satisfies readonly UsageGroup[];

type WireRow = Record<string, string | number | null>;

export function toWireUsage(row: UsageRow, groupBy: readonly UsageGroup[]): WireRow {
  return {
    ...(groupBy.includes("day") ? { day: row.day ?? null } : {}),
    ...(groupBy.includes("companion") ? { companion_id: row.companionId ?? null } : {}),
    ...(groupBy.includes("key") ? { key_id: row.keyId ?? null } : {}),
    messages: row.messages,
    requests: row.requests,
    input_tokens: row.inputTokens,
    output_tokens: row.outputTokens,
    voice_sessions: row.voiceSessions,
    errors: row.errors,
  };
}

const countColumns = ["messages", "requests", "input_tokens", "output_tokens", "voice_sessions", "errors"];
const groupColumns: Record<UsageGroup, string> = { day: "day", companion: "companion_id", key: "key_id" };

/** RFC 4180 with a header line; the columns depend only on the grouping. */
export function toCsv(rows: readonly WireRow[], groupBy: readonly UsageGroup[]): string {
  const columns = [
    ...groups.filter((group) => groupBy.includes(group)).map((group) => groupColumns[group]),
    ...countColumns,
  ];
  const lines = rows.map((row) => columns.map((column) => toCell(row[column] ?? "")).join(","));
  return `${[columns.join(","), ...lines].join("\r\n")}\r\n`;
}

/** Text that a spreadsheet would run as a formula gets an apostrophe in front. */
export function toCell(value: string | number): string {
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Usage on the wire, as JSON and as CSV. */
import { type TObject, Type as t } from "@sinclair/typebox";
import { Nullable } from "../../http/schema.ts";
import type { UsageGroup, UsageRow } from "../../store/store.ts";

/** Three years, leap day included. */
export const maxDays = 1096;

export const groups = ["day", "companion", "key"] as const satisfies readonly UsageGroup[];

const counts = {
  messages: t.Integer({ description: "Answered messages, test chats included." }),
  requests: t.Integer({ description: "The keys' own management calls; 0 where filtered by companion or metadata." }),
  input_tokens: t.Integer(),
  output_tokens: t.Integer(),
  voice_sessions: t.Integer({ description: "Voice sessions that were started." }),
  errors: t.Integer({ description: "Messages whose reply the provider broke off." }),
};

export const UsageRowObject: TObject = t.Object(
  {
    day: t.Optional(t.String({ format: "date", description: "UTC." })),
    companion_id: t.Optional(Nullable(t.String({ format: "uuid", description: "Null: a key's own calls." }))),
    key_id: t.Optional(
      Nullable(t.String({ format: "uuid", description: "The key that made the companion. Null: the dashboard." })),
    ),
    ...counts,
  },
  { $id: "UsageRow", description: "Of `day`, `companion_id` and `key_id` those that were grouped by." },
);

export const UsageList = t.Object(
  { data: t.Array(UsageRowObject, { description: "Ordered by day, companion, key." }) },
  { $id: "UsageList" },
);

export const QuotaObject = t.Object(
  {
    day: t.String({ format: "date", description: "The UTC day, at whose end the count begins anew." }),
    limit: t.Integer({ description: "Messages a day, by the account's plan.", examples: [1000] }),
    used: t.Integer({ description: "Of these, used so far.", examples: [12] }),
    left: t.Integer({ examples: [988] }),
  },
  { $id: "Quota" },
);

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

/** RFC 4180 with a header line, the columns always the same for the same grouping. */
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

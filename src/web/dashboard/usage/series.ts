/** Usage over days (the measures and the sums), and what it can be grouped by. */
import { formatCompact, formatNumber, shortId } from "../lib/format.ts";
import { formatCompactMoney, formatMoney, formatRoundMoney } from "../lib/money.ts";
import type { Json, UsageRow } from "../lib/types.ts";

export interface Measure {
  name: string;
  label: string;
  of(row: UsageRow): number;
  format(value: number): string;
  /** For axes and tiles. */
  formatShort(value: number): string;
  /** Of the tile, large. */
  formatTotal(value: number): string;
  /** Where an axis ends at the earliest. */
  leastTop: number;
}

const asCount = { format: formatNumber, formatShort: formatCompact, formatTotal: formatCompact, leastTop: 4 };

export const measures: readonly [Measure, ...Measure[]] = [
  { name: "messages", label: "Messages", of: (row) => row.messages, ...asCount },
  { name: "tokens", label: "Tokens", of: (row) => row.input_tokens + row.output_tokens, ...asCount },
  { name: "voice", label: "Voice sessions", of: (row) => row.voice_sessions, ...asCount },
  { name: "errors", label: "Failed replies", of: (row) => row.errors, ...asCount },
];

/** In micro-dollars, of what has a price; rows must be by model, so that one without a price hides no other. */
export const costMeasure: Measure = {
  name: "cost",
  label: "Cost",
  of: (row) => row.cost_micros ?? 0,
  format: formatMoney,
  formatShort: formatCompactMoney,
  formatTotal: formatRoundMoney,
  leastTop: 10_000,
};

export const ranges = [
  { name: "7", label: "Last 7 days" },
  { name: "30", label: "Last 30 days" },
  { name: "90", label: "Last 90 days" },
  { name: "365", label: "Last 12 months" },
] as const;

export interface Series {
  label: string;
  values: number[];
}

const dayMs = 86_400_000;

/** The UTC days up to today, oldest first. */
export function listDays(count: number): string[] {
  const nowMs = Date.now();
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

/** Whether a part of it has no price. */
export function isPartPriced(rows: readonly UsageRow[]): boolean {
  return rows.some(({ cost_micros }) => cost_micros === null);
}

type GroupKind = "companion" | "key" | "model" | "metadata";

export interface Grouping {
  kind: GroupKind;
  /** Of `group_by`; null while the field of the metadata has not been chosen. */
  api: string | null;
  /** The field of the metadata; otherwise empty. */
  field: string;
  /** The column's title. */
  title: string;
  /** "Usage by …". */
  words: string;
  /** As the choice of what to plot. */
  most: string;
}

const kinds: Record<Exclude<GroupKind, "metadata">, Omit<Grouping, "kind" | "field">> = {
  companion: { api: "companion", title: "Companion", words: "companion", most: "The companions used most" },
  key: { api: "key", title: "API key", words: "API key", most: "The keys used most" },
  model: { api: "model,provider", title: "Model", words: "model", most: "The models used most" },
};

export function groupingOf(kind: string | null, field: string): Grouping {
  if (kind === "metadata") {
    const api = field === "" ? null : `metadata.${field}`;
    return { kind, field, api, title: field, words: `metadata ${field}`, most: "The values used most" };
  }
  const known = kind === "key" || kind === "model" ? kind : "companion";
  return { kind: known, field: "", ...kinds[known] };
}

/** Of the row within its grouping. */
export function groupKey({ kind, field }: Grouping, row: UsageRow): string {
  if (kind === "companion") return row.companion_id ?? "";
  if (kind === "key") return row.key_id ?? "";
  if (kind === "model") return JSON.stringify([row.model, row.provider]);
  return JSON.stringify(metadataOf(row, field));
}

/** For groups whose name stands in the row itself, and keys, whose names are given. */
export function groupName({ kind, field }: Grouping, row: UsageRow, keyNames: Record<string, string>): string {
  if (kind === "key") return row.key_id ? (keyNames[row.key_id] ?? `revoked …${shortId(row.key_id)}`) : "Dashboard";
  if (kind === "model") return row.model ?? "Not recorded";
  const value = metadataOf(row, field);
  return value === null ? `Without ${field}` : typeof value === "string" ? value : JSON.stringify(value);
}

function metadataOf(row: UsageRow, field: string): Json {
  return (row as { [name: string]: Json })[`metadata.${field}`] ?? null;
}

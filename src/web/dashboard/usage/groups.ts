/** What usage can be grouped by, in the address of the page, in the API, and in words. */
import { shortId } from "../lib/format.ts";
import type { Json, UsageRow } from "../lib/types.ts";

export type GroupKind = "companion" | "key" | "model" | "metadata";

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

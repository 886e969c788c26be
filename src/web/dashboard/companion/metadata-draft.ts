/** Metadata while it is edited: as rows, or as the JSON that it is. */
import type { Json } from "../lib/types.ts";

export interface MetadataRow {
  key: string;
  kind: "text" | "json";
  value: string;
}

export interface MetadataDraft {
  mode: "rows" | "json";
  rows: MetadataRow[];
  json: string;
}

type JsonObject = { [key: string]: Json };
type Read = { value: JsonObject } | { problem: string };

const maxBytes = 16 * 1024;

export function toMetadataDraft(metadata: JsonObject): MetadataDraft {
  const rows = Object.entries(metadata).map(([key, value]) =>
    typeof value === "string"
      ? { key, kind: "text" as const, value }
      : { key, kind: "json" as const, value: JSON.stringify(value) },
  );
  return { mode: "rows", rows, json: JSON.stringify(metadata, null, 2) };
}

/** The object, or why the text is not one. */
export function readMetadata(draft: MetadataDraft): Read {
  const read = draft.mode === "json" ? readJson(draft.json) : readRows(draft.rows);
  if ("value" in read && new TextEncoder().encode(JSON.stringify(read.value)).length > maxBytes) {
    return { problem: "Larger than 16 KiB." };
  }
  return read;
}

/** The same content in the other form; what cannot be read yet stays as it is. */
export function switchMode(draft: MetadataDraft): MetadataDraft {
  const read = readMetadata(draft);
  if ("problem" in read) return draft;
  return { ...toMetadataDraft(read.value), mode: draft.mode === "rows" ? "json" : "rows" };
}

function readJson(text: string): Read {
  try {
    const value: Json = text.trim() === "" ? {} : JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? { value } : { problem: "Must be a JSON object: { … }." };
  } catch (error) {
    return { problem: `Not JSON yet: ${error instanceof Error ? error.message : "it cannot be read"}.` };
  }
}

function readRows(rows: readonly MetadataRow[]): Read {
  const value = new Map<string, Json>();
  for (const row of rows) {
    const isBlank = row.key === "" && row.value === "";
    if (isBlank) continue;
    if (row.key === "") return { problem: `The value “${row.value}” has no key.` };
    if (value.has(row.key)) return { problem: `The key “${row.key}” is there twice.` };
    try {
      value.set(row.key, row.kind === "text" ? row.value : JSON.parse(row.value));
    } catch {
      return { problem: `The value of “${row.key}” is not JSON: write 42, true, null, ["a"] or {"b": 1}.` };
    }
  }
  return { value: Object.fromEntries(value) };
}

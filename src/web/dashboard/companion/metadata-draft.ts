/** Metadata while it is edited: as rows, or as the JSON that it is. */
import { type JsonObject, type ReadObject, readJsonObject } from "../lib/json-text.ts";
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
export function readMetadata(draft: MetadataDraft): ReadObject {
  const read = draft.mode === "json" ? readJsonObject(draft.json) : readRows(draft.rows);
  if ("value" in read && new TextEncoder().encode(JSON.stringify(read.value)).length > maxBytes) {
    return { problem: "Larger than 16 KiB." };
  }
  return read;
}

/** In a line. */
export function describeMetadata(draft: MetadataDraft): string {
  const read = readMetadata(draft);
  return ("value" in read && Object.keys(read.value).join(", ")) || "None";
}

/** The same content in the other form; what cannot be read yet stays as it is. */
export function switchMode(draft: MetadataDraft): MetadataDraft {
  const read = readMetadata(draft);
  if ("problem" in read) return draft;
  return { ...toMetadataDraft(read.value), mode: draft.mode === "rows" ? "json" : "rows" };
}

function readRows(rows: readonly MetadataRow[]): ReadObject {
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

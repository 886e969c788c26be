/** The filters that a companion's metadata matches: each of its values, with the path to it. */
import type { JsonObject, JsonValue } from "../../domain/companion.ts";
import { sha256Hex } from "../../lib/sha256.ts";
import type { MetadataFilter } from "../contract/companions.ts";

/** A path and a value as stored in the index. */
export interface MetadataEntry {
  path: string;
  value: string;
}

/** Longer texts would make index rows overflow; they are stored and compared as digests. */
const longestText = 120;

/** A text as the index stores and compares it. */
export type IndexText = (text: string) => string;

/**
 * `mark` begins a digest, whose next character is never the mark. A text that begins with it gets one more, so that it
 * is not mistaken for a digest, and a copy to an engine with another mark can tell what it was.
 */
export function createIndexText(mark: string): IndexText {
  return (text) => {
    if (text.length > longestText) return `${mark}${sha256Hex(text)}`;
    return text.startsWith(mark) ? `${mark}${text}` : text;
  };
}

/**
 * Every matching filter, once. Names are joined by dots, so that a path means nested fields or a name with dots alike;
 * arrays add nothing to the path; numbers, booleans and null are their JSON text, like strings.
 */
export function listMetadataEntries(metadata: JsonObject, toIndexText: IndexText): MetadataEntry[] {
  const entries = new Map<string, MetadataEntry>();
  const visit = (path: string, value: JsonValue): void => {
    if (Array.isArray(value)) {
      for (const element of value) visit(path, element);
    } else if (typeof value === "object" && value !== null) {
      for (const [name, part] of Object.entries(value)) visit(`${path}.${name}`, part);
    } else {
      const entry = {
        path: toIndexText(path),
        value: toIndexText(typeof value === "string" ? value : JSON.stringify(value)),
      };
      entries.set(JSON.stringify([entry.path, entry.value]), entry);
    }
  };
  for (const [name, value] of Object.entries(metadata)) visit(name, value);
  return [...entries.values()];
}

/** Whether metadata matches all filters, by the same rule as the index. */
export function matchesMetadata(metadata: JsonObject, filters: readonly MetadataFilter[]): boolean {
  const keyOf = ({ path, value }: MetadataEntry) => JSON.stringify([path, value]);
  const has = new Set(listMetadataEntries(metadata, (text) => text).map(keyOf));
  return filters.every((filter) => has.has(keyOf(filter)));
}

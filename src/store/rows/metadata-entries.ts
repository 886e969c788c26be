/** The filters that a companion's metadata matches: each of its values, with the path to it. */
import type { JsonObject } from "../../domain/companion.ts";
import { listMetadataValues } from "../../domain/metadata.ts";
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

/** Every matching filter, once. */
export function listMetadataEntries(metadata: JsonObject, toIndexText: IndexText): MetadataEntry[] {
  return listMetadataValues(metadata).map(({ path, value }) => {
    return { path: toIndexText(path), value: toIndexText(value) };
  });
}

/** Whether metadata matches all filters, by the same rule as the index. */
export function matchesMetadata(metadata: JsonObject, filters: readonly MetadataFilter[]): boolean {
  if (filters.length === 0) return true;
  const values = listMetadataValues(metadata);
  return filters.every((filter) => values.some(({ path, value }) => path === filter.path && value === filter.value));
}

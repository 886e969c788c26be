/** The filters that a companion's metadata matches: each of its values, with the path to it. */
import type { MetadataFilter } from "../../../contracts/store/companions.ts";
import type { JsonObject } from "../../../domain/companion.ts";
import { listMetadataValues, type MetadataValue } from "../../../domain/metadata.ts";
import { sha256Hex } from "../../../lib/sha256.ts";

/** A path and a value as stored in the index. */
export interface MetadataEntry {
  path: string;
  value: string;
}

/** Longer texts would make index rows overflow; they are stored and compared as digests. */
const longestText = 120;

/** A text as the index stores and compares it. `isKey` where it is a path that is one key. */
export type IndexText = (text: string, isKey?: boolean) => string;

/**
 * `mark` begins a digest, whose next character is never the mark. A text that begins with it gets one more, so that it
 * is not mistaken for a digest, and a copy to an engine with another mark can tell what it was. A key has a dot behind
 * the mark, which neither of them has.
 */
export function createIndexText(mark: string): IndexText {
  return (text, isKey = false) => {
    const begin = isKey ? `${mark}.` : "";
    if (text.length > longestText) return `${begin || mark}${sha256Hex(text)}`;
    return !isKey && text.startsWith(mark) ? `${mark}${text}` : begin + text;
  };
}

/** As the index has it. */
export function toMetadataEntry({ path, value, isKey }: MetadataFilter, toIndexText: IndexText): MetadataEntry {
  // Without a dot, there is no other field of the same path.
  return { path: toIndexText(path, isKey && path.includes(".")), value: toIndexText(value) };
}

/** Every matching filter, once. */
export function listMetadataEntries(metadata: JsonObject, toIndexText: IndexText): MetadataEntry[] {
  return listFilters(metadata).map((filter) => toMetadataEntry(filter, toIndexText));
}

/** Whether metadata matches all filters, by the same rule as the index. */
export function matchesMetadata(metadata: JsonObject, filters: readonly MetadataFilter[]): boolean {
  if (filters.length === 0) return true;
  const values = listMetadataValues(metadata);
  return filters.every(({ path, value, isKey }) =>
    (isKey ? listKeyValues(metadata, path) : values).some((one) => path === one.path && value === one.value),
  );
}

function listFilters(metadata: JsonObject): MetadataFilter[] {
  const dotted = Object.keys(metadata).filter((name) => name.includes("."));
  const ofKeys = dotted.flatMap((name) => listKeyValues(metadata, name));
  return [...listMetadataValues(metadata), ...ofKeys.map((value) => ({ ...value, isKey: true as const }))];
}

/** Of one key at the top, and not of what is nested in it. */
function listKeyValues(metadata: JsonObject, name: string): MetadataValue[] {
  if (!Object.hasOwn(metadata, name)) return [];
  return listMetadataValues(Object.fromEntries([[name, metadata[name] ?? null]])).filter(({ path }) => path === name);
}

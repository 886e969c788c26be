/** The metadata index: which filters metadata matches, and where companions are: by value, in blocks of their numbers. */

import type { MetadataFilter } from "../../../contracts/store/companions.ts";
import type { JsonObject } from "../../../domain/companion.ts";
import { listMetadataValues, type MetadataValue, metadataKey } from "../../../domain/metadata.ts";
import { sha256Hex } from "../../../lib/sha256.ts";
import { addMembers, blockSize, readMembersBelow, removeMembers } from "./member-sets.ts";

/** Companions of one block that have the same value. */
export interface BlockMembers extends MetadataEntry {
  block: number;
  offsets: number[];
}

/** The block of a companion's number, and its offset there. */
export function locate(number: number): { block: number; offset: number } {
  return { block: Math.floor(number / blockSize), offset: number % blockSize };
}

/** Companions with the same value come together. */
export function groupByBlock(
  companions: readonly { number: number; metadata: JsonObject }[],
  toIndexText: IndexText,
): BlockMembers[] {
  const groups = new Map<string, BlockMembers>();
  for (const { number, metadata } of companions) {
    const { block, offset } = locate(number);
    for (const { path, value } of listMetadataEntries(metadata, toIndexText)) {
      const key = `${block} ${metadataKey({ path, value })}`;
      const group = groups.get(key) ?? { path, value, block, offsets: [] };
      group.offsets.push(offset);
      groups.set(key, group);
    }
  }
  return [...groups.values()];
}

/** Entries of only one of the two. */
function diffEntries(
  before: JsonObject,
  after: JsonObject,
  toIndexText: IndexText,
): { removed: MetadataEntry[]; added: MetadataEntry[] } {
  const added = new Map(listMetadataEntries(after, toIndexText).map((entry) => [metadataKey(entry), entry]));
  const removed = listMetadataEntries(before, toIndexText).filter((entry) => !added.delete(metadataKey(entry)));
  return { removed, added: [...added.values()] };
}

/** A companion whose metadata is replaced. */
export interface MetadataChange {
  number: number;
  before: JsonObject;
  after: JsonObject;
}

/** What becomes of an index row. */
interface BlockChange extends MetadataEntry {
  block: number;
  added: number[];
  removed: number[];
}

/** Only differences, those of one row together. */
export function groupChanges(changes: readonly MetadataChange[], toIndexText: IndexText): BlockChange[] {
  const groups = new Map<string, BlockChange>();
  for (const { number, before, after } of changes) {
    const { block, offset } = locate(number);
    const differences = diffEntries(before, after, toIndexText);
    for (const side of ["removed", "added"] as const) {
      for (const { path, value } of differences[side]) {
        const key = `${block} ${metadataKey({ path, value })}`;
        const group = groups.get(key) ?? { path, value, block, added: [], removed: [] };
        group[side].push(offset);
        groups.set(key, group);
      }
    }
  }
  return [...groups.values()];
}

/** The members then; null for none. */
export function changeMembers(
  set: Uint8Array | null,
  { added, removed }: Pick<BlockChange, "added" | "removed">,
): Uint8Array | null {
  const grown = added.length === 0 ? set : addMembers(set, added);
  return grown === null || removed.length === 0 ? grown : removeMembers(grown, removed);
}

/** The numbers of a block's members that are below `below`, in descending order, `atOnce` at a time. */
export function* readBlock(members: Uint8Array, block: number, below: number, atOnce: number): Generator<number[]> {
  const first = block * blockSize;
  for (let next = Math.min(blockSize, below - first); ; ) {
    const offsets = readMembersBelow(members, next, atOnce);
    const last = offsets.at(-1);
    if (last === undefined) return;
    yield offsets.map((offset) => first + offset);
    next = last;
  }
}

/** A path and a value as stored in the index. */
export interface MetadataEntry {
  path: string;
  value: string;
}

/** Longer texts would make index rows overflow; they are stored and compared as digests. */
const maxText = 120;

/** A text as the index stores and compares it. `isKey` where it is a path that is one key. */
type IndexText = (text: string, isKey?: boolean) => string;

/**
 * `mark` begins a digest, whose next character is never the mark. A text that begins with it gets one more, so that
 * it is not mistaken for a digest, and a copy to an engine with another mark can recognize what it was. A key has a dot
 * behind the mark, which neither of them has.
 */
export function createIndexText(mark: string): IndexText {
  return (text, isKey = false) => {
    const begin = isKey ? `${mark}.` : "";
    if (text.length > maxText) return `${begin || mark}${sha256Hex(text)}`;
    return !isKey && text.startsWith(mark) ? `${mark}${text}` : begin + text;
  };
}

/** As the index has it. */
export function toMetadataEntry({ path, value, isKey }: MetadataFilter, toIndexText: IndexText): MetadataEntry {
  // Without a dot, there is no other field of the same path.
  return { path: toIndexText(path, isKey && path.includes(".")), value: toIndexText(value) };
}

/** Every matching filter, once. */
function listMetadataEntries(metadata: JsonObject, toIndexText: IndexText): MetadataEntry[] {
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

/** Where companions are in the metadata index: by value, in blocks of companion numbers. */
import type { JsonObject } from "../../../domain/companion.ts";
import { blockSize, readMembersBelow } from "./member-sets.ts";
import { type IndexText, listMetadataEntries, type MetadataEntry } from "./metadata-entries.ts";

/** Companions of one block that have the same value. */
export interface BlockMembers extends MetadataEntry {
  block: number;
  offsets: number[];
}

/** The block of a companion's number, and its place in there. */
export function placeOf(number: number): { block: number; offset: number } {
  return { block: Math.floor(number / blockSize), offset: number % blockSize };
}

/** Companions with the same value come together. */
export function groupByBlock(
  companions: readonly { number: number; metadata: JsonObject }[],
  toIndexText: IndexText,
): BlockMembers[] {
  const groups = new Map<string, BlockMembers>();
  for (const { number, metadata } of companions) {
    const { block, offset } = placeOf(number);
    for (const { path, value } of listMetadataEntries(metadata, toIndexText)) {
      const key = JSON.stringify([path, value, block]);
      const group = groups.get(key) ?? { path, value, block, offsets: [] };
      group.offsets.push(offset);
      groups.set(key, group);
    }
  }
  return [...groups.values()];
}

/** Entries of only one of the two. */
export function diffEntries(
  before: JsonObject,
  after: JsonObject,
  toIndexText: IndexText,
): { removed: MetadataEntry[]; added: MetadataEntry[] } {
  const key = ({ path, value }: MetadataEntry) => JSON.stringify([path, value]);
  const added = new Map(listMetadataEntries(after, toIndexText).map((entry) => [key(entry), entry]));
  const removed = listMetadataEntries(before, toIndexText).filter((entry) => !added.delete(key(entry)));
  return { removed, added: [...added.values()] };
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

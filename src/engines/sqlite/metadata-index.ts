/**
 * The metadata index: finds companions by any field, in any combination, without reading a companion. Labels of usage
 * have one of the same form.
 *
 * For each (account, path, value) and block of 4096 companion numbers, one row contains which of them have that value.
 * A filter on one field reads only the blocks that fill the page. Filters on several fields walk the blocks of the
 * rarest and look up the others, so that the worst case, two frequent values that never meet, costs two small rows per
 * 4096 companions. The usual index, one row per companion and value, would cost a lookup per companion.
 */
import type { MetadataFilter } from "../../contracts/store/companions.ts";
import type { JsonObject } from "../../domain/companion.ts";
import { addMembers, blockSize, hasMember, intersect } from "../store-shared/rows/member-sets.ts";
import {
  changeMembers,
  createIndexText,
  groupByBlock,
  groupChanges,
  locate,
  type MetadataChange,
  type MetadataEntry,
  readBlock,
  toMetadataEntry,
} from "../store-shared/rows/metadata-blocks.ts";
import type { SqliteEngine } from "./engine.ts";

export type MetadataTable = "companion_metadata" | "usage_label_metadata";

export const metadataQueriesOf = (table: MetadataTable) => ({
  // After a few blocks it is clear which value is the rarest, or it does not matter.
  countBlocks: `SELECT count(*) AS count FROM
     (SELECT 1 FROM ${table} WHERE account_number = ? AND path = ? AND value = ? LIMIT 32)`,
  walkBlocks: `SELECT block, members FROM ${table}
     WHERE account_number = ? AND path = ? AND value = ? AND block <= ? ORDER BY block DESC LIMIT ?`,
  readBlocks: `SELECT block, members FROM ${table}
     WHERE account_number = ? AND path = ? AND value = ? AND block BETWEEN ? AND ?`,
  findBlock: `SELECT members FROM ${table} WHERE account_number = ? AND path = ? AND value = ? AND block = ?`,
});

/**
 * How many blocks the first read takes; each further one takes four times as many, so that a short walk stays cheap.
 */
const firstWalk = 4;
const maxWalk = 256;

/** How many companions are returned together: about a page. */
const companionsPerStep = 128;

// Stored in databases. Metadata texts contain no NUL.
const toIndexText = createIndexText("\0");

interface MembersRow {
  members: Uint8Array;
}

interface BlockRow extends MembersRow {
  block: number;
}

export type MetadataIndex = ReturnType<typeof createMetadataIndex>;

export function createMetadataIndex(engine: SqliteEngine, table: MetadataTable) {
  const metadataQueries = metadataQueriesOf(table);
  const countBlocks = engine.query<{ count: number }, [number, string, string]>(metadataQueries.countBlocks);
  const walkBlocks = engine.query<BlockRow, [number, string, string, number, number]>(metadataQueries.walkBlocks);
  const readBlocks = engine.query<BlockRow, [number, string, string, number, number]>(metadataQueries.readBlocks);
  const findBlock = engine.query<MembersRow, [number, string, string, number]>(metadataQueries.findBlock);
  const writeBlock = engine.query<null, [number, string, string, number, Uint8Array]>(
    `INSERT INTO ${table} (account_number, path, value, block, members) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET members = excluded.members`,
  );
  const deleteBlock = engine.query<null, [number, string, string, number]>(
    `DELETE FROM ${table} WHERE account_number = ? AND path = ? AND value = ? AND block = ?`,
  );

  function addTo(
    accountNumber: number,
    { path, value }: MetadataEntry,
    block: number,
    offsets: readonly number[],
  ): void {
    const row = findBlock.get(accountNumber, path, value, block);
    writeBlock.run(accountNumber, path, value, block, addMembers(row?.members ?? null, offsets));
  }

  /** Numbers in descending order, a few at a time, all below `below`; no statement stays open in between. */
  function* walk(accountNumber: number, filters: readonly MetadataFilter[], below: number): Generator<number[]> {
    for (const [block, members] of walkSets(accountNumber, filters, below)) {
      yield* readBlock(members, block, below, companionsPerStep);
    }
  }

  /** The sets of companions that match, each with its block, the highest first. */
  function* walkSets(
    accountNumber: number,
    filters: readonly MetadataFilter[],
    below: number,
  ): Generator<[block: number, members: Uint8Array]> {
    const entries = filters.map((filter) => toMetadataEntry(filter, toIndexText));
    const counted = entries.map((entry) => {
      return { ...entry, count: countBlocks.get(accountNumber, entry.path, entry.value)?.count ?? 0 };
    });
    const [rarest, ...others] = counted.sort((one, other) => one.count - other.count);
    if (rarest === undefined || rarest.count === 0) return;
    let highest = Math.floor((below - 1) / blockSize);
    for (let limit = firstWalk; ; limit = Math.min(limit * 4, maxWalk)) {
      const rows = walkBlocks.all(accountNumber, rarest.path, rarest.value, highest, limit);
      const lookups = others.map((other) => createLookup(accountNumber, other, rows));
      for (const { block, members } of rows) {
        const left = lookups.reduce<Uint8Array | null>((common, find) => {
          const other = common === null ? null : find(block);
          return common === null || other === null ? null : intersect(common, other);
        }, members);
        if (left !== null) yield [block, left];
        highest = block - 1;
      }
      if (rows.length < limit) return;
    }
  }

  /**
   * Finds the value's members in any of the blocks: with one read if the blocks are close together, else one by one.
   */
  function createLookup(accountNumber: number, { path, value }: MetadataEntry, rows: readonly BlockRow[]) {
    const [highest = 0, lowest = 0] = [rows.at(0)?.block, rows.at(-1)?.block];
    if (rows.length < firstWalk || highest - lowest > rows.length * 4) {
      return (block: number) => findBlock.get(accountNumber, path, value, block)?.members ?? null;
    }
    const read = readBlocks.all(accountNumber, path, value, lowest, highest);
    const byBlock = new Map(read.map(({ block, members }) => [block, members]));
    return (block: number) => byBlock.get(block) ?? null;
  }

  return {
    walk,
    walkSets,

    has(accountNumber: number, filters: readonly MetadataFilter[], number: number): boolean {
      const { block, offset } = locate(number);
      return filters.every((filter) => {
        const { path, value } = toMetadataEntry(filter, toIndexText);
        const row = findBlock.get(accountNumber, path, value, block);
        return row !== null && hasMember(row.members, offset);
      });
    },

    /** Call it inside a write, with companions not yet in the index; those with the same value share a row's update. */
    add(accountNumber: number, companions: readonly { number: number; metadata: JsonObject }[]): void {
      const groups = groupByBlock(companions, toIndexText);
      for (const group of groups) addTo(accountNumber, group, group.block, group.offsets);
    },

    /** Call it inside a write; only differences are written. */
    replace(accountNumber: number, changes: readonly MetadataChange[]): void {
      for (const { path, value, block, ...change } of groupChanges(changes, toIndexText)) {
        const row = findBlock.get(accountNumber, path, value, block);
        const left = changeMembers(row?.members ?? null, change);
        if (left === null) deleteBlock.run(accountNumber, path, value, block);
        else writeBlock.run(accountNumber, path, value, block, left);
      }
    },
  };
}

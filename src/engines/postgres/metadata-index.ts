/**
 * The metadata index: finds companions by any field, in any combination, without reading a companion. Labels of usage
 * have one of the same form.
 * For each (account, path, value) and block of 4096 companion numbers, one row contains which of them have that value.
 * A filter on one field reads only the blocks that fill the page. Filters on several fields walk the blocks of the
 * rarest together with those of the others. Indexes of PostgreSQL's own (GIN, or a row per companion and value) take
 * from 30 ms to minutes where frequent values seldom or never meet.
 */
import type { MetadataFilter } from "../../contracts/store/companions.ts";
import type { JsonObject } from "../../domain/companion.ts";
import { addMembers, blockSize, intersect } from "../store-shared/rows/member-sets.ts";
import {
  changeMembers,
  createIndexText,
  groupByBlock,
  groupChanges,
  type MetadataChange,
  type MetadataEntry,
  readBlock,
  toMetadataEntry,
} from "../store-shared/rows/metadata-blocks.ts";
import type { Queries } from "./queries.ts";
import type { Transaction } from "./transaction.ts";

// Stored in databases. PostgreSQL cannot store NUL, with which SQLite's begin.
const toIndexText = createIndexText("\u0001");

export type MetadataTable = "companion_metadata" | "usage_label_metadata";

/** `LATERAL … OFFSET 0`: a lookup for each position, regardless of the planner's statistics of the table. */
const lookUp = (table: MetadataTable, alias: string, block: string) =>
  `LATERAL (SELECT m.members, m.ctid FROM ${table} m
  WHERE m.account_number = $1 AND m.path = ${alias}.path AND m.value = ${alias}.value AND m.block = ${block} OFFSET 0) AS found`;

export const metadataQueriesOf = (table: MetadataTable) => ({
  // After a few blocks it is clear which value is the rarest, or it does not matter.
  countBlocks: `SELECT (SELECT count(*)::int FROM (SELECT FROM ${table} m
      WHERE m.account_number = $1 AND m.path = wanted.path AND m.value = wanted.value LIMIT 32) AS counted) AS blocks
    FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS wanted (path, value, at) ORDER BY at`,
  walkBlocks: `WITH walked AS MATERIALIZED (SELECT block, members FROM ${table}
      WHERE account_number = $1 AND path = $2 AND value = $3 AND block <= $4 ORDER BY block DESC LIMIT $5)
    SELECT block, members FROM walked
    UNION ALL SELECT walked.block, found.members
    FROM walked CROSS JOIN unnest($6::text[], $7::text[]) AS other (path, value)
      CROSS JOIN ${lookUp(table, "other", "walked.block")}`,
  readBlocks: `SELECT wanted.at::int AS at, found.members
    FROM unnest($2::text[], $3::text[], $4::int[]) WITH ORDINALITY AS wanted (path, value, block, at)
      CROSS JOIN ${lookUp(table, "wanted", "wanted.block")}`,
  deleteBlocks: `DELETE FROM ${table} emptied
    USING unnest($2::text[], $3::text[], $4::int[]) AS wanted (path, value, block)
      CROSS JOIN ${lookUp(table, "wanted", "wanted.block")}
    WHERE emptied.ctid = found.ctid`,
  writeBlocks: `INSERT INTO ${table} (account_number, path, value, block, members)
    SELECT $1, * FROM unnest($2::text[], $3::text[], $4::int[], $5::bytea[])
    ON CONFLICT (account_number, path, value, block) DO UPDATE SET members = excluded.members`,
});

/** How many blocks the first read takes; each further one takes more, so that a short walk stays cheap. */
const firstWalk = 8;
const maxWalk = 256;
const walkGrowth = 8;
/** Blocks looked up in one query of a walk, for any number of filters. */
const maxLookups = 2_048;
/** Blocks written by one statement. */
const maxWritten = 5_000;

interface BlockKey extends MetadataEntry {
  block: number;
}

interface WrittenBlock extends BlockKey {
  members: Uint8Array | null;
}

export type MetadataIndex = ReturnType<typeof createMetadataIndex>;

export function createMetadataIndex(table: MetadataTable) {
  const queries = metadataQueriesOf(table);

  /** The members at each position; null where there is none. */
  async function read(
    transaction: Transaction,
    accountNumber: number,
    blocks: readonly BlockKey[],
  ): Promise<(Uint8Array | null)[]> {
    const rows = await transaction.all<{ at: number; members: Uint8Array }>(queries.readBlocks, [
      accountNumber,
      ...toColumns(blocks),
    ]);
    const found = new Map(rows.map(({ at, members }) => [at - 1, members]));
    return blocks.map((_, at) => found.get(at) ?? null);
  }

  async function write(
    transaction: Transaction,
    accountNumber: number,
    blocks: readonly WrittenBlock[],
  ): Promise<void> {
    const kept = blocks.filter(({ members }) => members !== null);
    const emptied = blocks.filter(({ members }) => members === null);
    if (kept.length > 0) {
      const members = kept.map((block) => block.members);
      await transaction.run(queries.writeBlocks, [accountNumber, ...toColumns(kept), members]);
    }
    if (emptied.length > 0) await transaction.run(queries.deleteBlocks, [accountNumber, ...toColumns(emptied)]);
  }

  /** From the rarest to the most frequent; empty if a value is nowhere. */
  async function sortByFrequency(
    reads: Queries,
    accountNumber: number,
    filters: readonly MetadataFilter[],
  ): Promise<MetadataEntry[]> {
    const entries = toEntries(filters);
    const [paths, values] = toColumns(entries);
    const rows = await reads.all<{ blocks: number }>(queries.countBlocks, [accountNumber, paths, values]);
    const counted = entries.map((entry, at) => ({ ...entry, blocks: rows[at]?.blocks ?? 0 }));
    counted.sort((one, other) => one.blocks - other.blocks);
    return counted[0]?.blocks === 0 ? [] : counted;
  }

  /** The sets of companions that match, each with its block, the highest first, those of one query at a time. */
  async function* walkSets(
    reads: Queries,
    accountNumber: number,
    filters: readonly MetadataFilter[],
    below: number,
  ): AsyncGenerator<[block: number, members: Uint8Array][]> {
    const [rarest, ...others] = await sortByFrequency(reads, accountNumber, filters);
    if (rarest === undefined) return;
    const maxLimit = Math.max(1, Math.min(maxWalk, Math.floor(maxLookups / Math.max(1, others.length))));
    const [paths, values] = toColumns(others);
    let highest = Math.floor((below - 1) / blockSize);
    for (let limit = Math.min(firstWalk, maxLimit); ; limit = Math.min(limit * walkGrowth, maxLimit)) {
      const parameters = [accountNumber, rarest.path, rarest.value, highest, limit, paths, values];
      const blocks = groupBlocks(await reads.all<BlockRow>(queries.walkBlocks, parameters));
      const matching: [block: number, members: Uint8Array][] = [];
      for (const [block, sets] of blocks) {
        highest = block - 1;
        const left = sets.length > others.length ? intersectAll(sets) : null;
        if (left !== null) matching.push([block, left]);
      }
      yield matching;
      if (blocks.length < limit) return;
    }
  }

  return {
    walkSets,

    /** Numbers in descending order, about `atOnce` at a time, all below `below`. */
    async *walk(
      reads: Queries,
      accountNumber: number,
      filters: readonly MetadataFilter[],
      below: number,
      atOnce = 128,
    ): AsyncGenerator<number[]> {
      for await (const sets of walkSets(reads, accountNumber, filters, below)) {
        let found: number[] = [];
        for (const [block, set] of sets) {
          for (const numbers of readBlock(set, block, below, atOnce)) {
            found.push(...numbers);
            if (found.length < atOnce) continue;
            yield found;
            found = [];
          }
        }
        if (found.length > 0) yield found;
      }
    },

    /** Call it inside a change of the account, with companions that are not yet in the index. */
    async add(
      transaction: Transaction,
      accountNumber: number,
      companions: readonly { number: number; metadata: JsonObject }[],
    ): Promise<void> {
      const groups = groupByBlock(companions, toIndexText);
      for (let at = 0; at < groups.length; at += maxWritten) {
        const blocks = groups.slice(at, at + maxWritten);
        const before = await read(transaction, accountNumber, blocks);
        const added = blocks.map((block, index) => {
          return { ...block, members: addMembers(before[index] ?? null, block.offsets) };
        });
        await write(transaction, accountNumber, added);
      }
    },

    /** Call it inside a change of the account; only differences are written. */
    async replace(transaction: Transaction, accountNumber: number, changes: readonly MetadataChange[]): Promise<void> {
      const groups = groupChanges(changes, toIndexText);
      for (let at = 0; at < groups.length; at += maxWritten) {
        const blocks = groups.slice(at, at + maxWritten);
        const sets = await read(transaction, accountNumber, blocks);
        const changed = blocks.map((block, index) => ({
          ...block,
          members: changeMembers(sets[index] ?? null, block),
        }));
        await write(transaction, accountNumber, changed);
      }
    },
  };
}

/** Each once. */
function toEntries(filters: readonly MetadataFilter[]): MetadataEntry[] {
  const entries = filters.map((filter) => toMetadataEntry(filter, toIndexText));
  return [...new Map(entries.map((entry) => [JSON.stringify([entry.path, entry.value]), entry])).values()];
}

function toColumns(
  keys: readonly (MetadataEntry | BlockKey)[],
): [paths: string[], values: string[], ...blocks: number[][]] {
  const blocks = keys.flatMap((key) => ("block" in key ? [key.block] : []));
  return [keys.map(({ path }) => path), keys.map(({ value }) => value), blocks];
}

interface BlockRow {
  block: number;
  members: Uint8Array;
}

/** The sets of each block, the highest block first. */
function groupBlocks(rows: readonly BlockRow[]): [block: number, sets: Uint8Array[]][] {
  const blocks = new Map<number, Uint8Array[]>();
  for (const { block, members } of rows) {
    const sets = blocks.get(block);
    if (sets === undefined) blocks.set(block, [members]);
    else sets.push(members);
  }
  return [...blocks].sort(([one], [other]) => other - one);
}

function intersectAll([first, ...others]: readonly Uint8Array[]): Uint8Array | null {
  return others.reduce<Uint8Array | null>(
    (common, set) => (common === null ? null : intersect(common, set)),
    first ?? null,
  );
}

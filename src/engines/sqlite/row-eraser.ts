/**
 * Erases rows of words so that none of their text remains in the database file.
 *
 * `secure_delete` overwrites a deleted row, but not stale copies of its neighbours: when SQLite rebalances pages that
 * have become too empty, it moves rows and leaves their old bytes in unused space, where no later deletion finds them.
 * So rows of such a table never move while they contain text. They are only appended; an erased row is overwritten in
 * place with the same number of zeros; and a row is removed only from the middle of a stretch of erased rows, so long that
 * rebalancing moves only erased rows. Short stretches of live rows in between are copied to the end, and then erased
 * too.
 */
import type { SqliteEngine } from "./engine.ts";

/** Erased rows of this size on either side keep removals away from live rows: at least four pages. */
const marginBytes = 16 * 1024;
/** A stretch of this size has rows removed. */
const removableBytes = 4 * marginBytes;
const maxRowsMoved = 100;

export interface ErasedRow {
  number: number;
  bytes: number;
}

interface Range {
  first: number;
  last: number;
  bytes: number;
}

// Of a long text, only the start shares a page with other rows.
export const sharedBytes = "100 + min(octet_length(text), 400) AS bytes";

/** A table with the key `number` and a column `text`. */
interface WordTable {
  table: string;
  /** The table of its erased stretches. */
  ranges: string;
  /** The column of a row's owner: negative once it is erased. */
  owner: string;
  /** The columns that are overwritten. */
  words: readonly string[];
  /** All columns but the number. */
  columns: string;
}

/** Returns a function that erases rows of the table; call it inside a write. */
export function createRowEraser(engine: SqliteEngine, { table, ranges, owner, words, columns }: WordTable) {
  // The same length keeps the row where it is.
  const overwritten = words.map((column) => `${column} = ${zerosFor(column)}`).join(", ");
  const eraseRow = engine.query<null, [number]>(
    `UPDATE ${table} SET ${owner} = -${owner}, ${overwritten} WHERE number = ?`,
  );
  const copyRow = engine.query<null, [number]>(
    `INSERT INTO ${table} (${columns}) SELECT ${columns} FROM ${table} WHERE number = ?`,
  );
  const selectBetween = engine.query<ErasedRow, [number, number]>(
    `SELECT number, ${sharedBytes} FROM ${table} WHERE number BETWEEN ? AND ? ORDER BY number`,
  );
  const removeBetween = engine.query<null, [number, number]>(`DELETE FROM ${table} WHERE number > ? AND number < ?`);
  const selectRangeUpTo = engine.query<Range, [number]>(
    `SELECT first, last, bytes FROM ${ranges} WHERE first <= ? ORDER BY first DESC LIMIT 1`,
  );
  const selectRangeAfter = engine.query<Range, [number]>(
    `SELECT first, last, bytes FROM ${ranges} WHERE first > ? ORDER BY first LIMIT 1`,
  );
  const deleteRange = engine.query<null, [number]>(`DELETE FROM ${ranges} WHERE first = ?`);
  const saveRange = engine.query<null, [number, number, number]>(
    `INSERT INTO ${ranges} (first, last, bytes) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET last = excluded.last, bytes = excluded.bytes`,
  );

  function join(one: Range, other: Range): Range {
    deleteRange.run(one.first);
    deleteRange.run(other.first);
    const joined = { first: one.first, last: other.last, bytes: one.bytes + other.bytes };
    saveRange.run(joined.first, joined.last, joined.bytes);
    return joined;
  }

  /** The erased range that now contains the row, joined with adjacent ones. */
  function note({ number, bytes }: ErasedRow): Range {
    let range: Range = { first: number, last: number, bytes };
    saveRange.run(number, number, bytes);
    const before = selectRangeUpTo.get(number - 1);
    if (before?.last === number - 1) range = join(before, range);
    const after = selectRangeAfter.get(number);
    if (after?.first === number + 1) range = join(range, after);
    return range;
  }

  /** Joins two ranges by moving the live rows between them, if they are few compared with what it frees. */
  function bridge(one: Range, other: Range): Range | null {
    // Between erased ranges no number is missing.
    if (other.first - one.last > maxRowsMoved) return null;
    const living = selectBetween.all(one.last + 1, other.first - 1);
    const bytes = living.reduce((sum, row) => sum + row.bytes, 0);
    if (bytes > Math.max(one.bytes, other.bytes) / 2) return null;
    // In order, which matters for messages of the same instant.
    for (const row of living) copyRow.run(row.number);
    for (const row of living) eraseRow.run(row.number);
    return join({ ...one, bytes: one.bytes + bytes }, other);
  }

  function tidy(start: Range): void {
    let range = start;
    const before = selectRangeUpTo.get(range.first - 1);
    if (before !== null) range = bridge(before, range) ?? range;
    const after = selectRangeAfter.get(range.first);
    if (after !== null) range = bridge(range, after) ?? range;
    if (range.bytes >= removableBytes) remove(range);
  }

  function remove(range: Range): void {
    const rows = selectBetween.all(range.first, range.last);
    const low = rows[findMargin(rows)];
    const high = rows[rows.length - 1 - findMargin(rows.toReversed())];
    if (low === undefined || high === undefined || low.number >= high.number) return;
    removeBetween.run(low.number, high.number);
    const kept = rows.filter((row) => row.number <= low.number || row.number >= high.number);
    saveRange.run(
      range.first,
      range.last,
      kept.reduce((sum, row) => sum + row.bytes, 0),
    );
  }

  return (rows: readonly ErasedRow[]): void => {
    const firsts = new Set<number>();
    for (const row of rows) {
      eraseRow.run(row.number);
      firsts.add(note(row).first);
    }
    for (const first of firsts) {
      const range = selectRangeUpTo.get(first);
      // Ranges that were joined to another no longer exist.
      if (range?.first === first) tidy(range);
    }
  };
}

/** As many zeros as the column has bytes; null for null. */
function zerosFor(column: string): string {
  return `substr(hex(zeroblob((octet_length(${column}) + 1) / 2)), 1, octet_length(${column}))`;
}

/** The index of the row that completes the margin; past the end if none does. */
function findMargin(rows: readonly ErasedRow[]): number {
  let bytes = 0;
  const at = rows.findIndex((row) => {
    bytes += row.bytes;
    return bytes >= marginBytes;
  });
  return at === -1 ? rows.length : at;
}

/** Both ends of a copy: what it reads from, and what it writes to, a page of rows at a time. */
import type { CopiedTable, Row } from "./tables.ts";

/** A row's primary key as its engine has it, so that the next page begins behind it; can be written as JSON. */
export type Key = readonly (string | number)[];

export interface Page {
  rows: Row[];
  /** Null if there are no rows. */
  last: Key | null;
  /** About how much memory the rows take. */
  bytes: number;
  /** How many texts held a NUL, which PostgreSQL cannot. */
  replaced: number;
}

/** How far a table was copied. */
export interface TableProgress {
  last: Key | null;
  rows: number;
  replaced: number;
}

export interface ReadableEnd {
  /** How this end is called in messages, without a password; also distinguishes sources. */
  readonly name: string;
  /** Rows in the order of their key. */
  readPage(table: CopiedTable, after: Key | null, limit: number): Promise<Page>;
  close(): Promise<void>;
}

/** Stays as it was when it was opened, and no server uses it meanwhile. */
export interface CopySource extends ReadableEnd {
  countRows(table: CopiedTable): Promise<number>;
  /** The highest number that the table has ever given to a row. */
  findLastNumber(table: CopiedTable): Promise<number>;
}

/** Marked as unfinished until `finish`: no server and no command uses it until then. */
export interface CopyTarget extends ReadableEnd {
  /** Of an earlier run that was interrupted; tables that were not begun are missing. */
  readonly progress: ReadonlyMap<string, TableProgress>;
  /** What to do to begin again. */
  readonly howToEmpty: string;
  /** Writes the rows and the progress together, or neither. */
  writePage(table: CopiedTable, rows: readonly Row[], progress: TableProgress): Promise<void>;
  /** Makes numbering go on behind the given numbers, and then removes the mark. */
  finish(lastNumbers: ReadonlyMap<CopiedTable, number>): Promise<void>;
}

const firstLimit = 500;
const fewestRows = 16;
/** About as much as a page may take in memory: of rows with bytes it has no more, for any limit. */
export const pageBytes = 4 * 1024 * 1024;

/** All pages behind the key, the next one being read while the caller is at work. Rows vary in size, and so pages do. */
export async function* readPages(
  end: ReadableEnd,
  table: CopiedTable,
  { after, maxRows }: { after: Key | null; maxRows: number },
): AsyncGenerator<Page & { last: Key }> {
  let limit = Math.min(firstLimit, maxRows);
  let reading = end.readPage(table, after, limit);
  for (;;) {
    const page = await reading;
    const { last } = page;
    if (last === null) return;
    const fitting = Math.floor((pageBytes * page.rows.length) / Math.max(1, page.bytes));
    limit = Math.min(maxRows, limit * 4, Math.max(fewestRows, fitting));
    reading = end.readPage(table, last, limit);
    // A consumer that stops early does not wait for it.
    reading.catch(() => {});
    yield { ...page, last };
  }
}

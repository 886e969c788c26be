/**
 * Copies a stopped store to the other engine. Each page is committed together with how far the copy is, so that a copy
 * that ended at any moment goes on there; and all tables are read back from both ends before the target may be used.
 */
import { AppError } from "../../domain/errors.ts";
import { type CopySource, type CopyTarget, type ReadableEnd, readPages } from "./pages.ts";
import { openPostgresSource } from "./postgres-source.ts";
import { openPostgresTarget } from "./postgres-target.ts";
import { openSqliteSource } from "./sqlite-source.ts";
import { openSqliteTarget } from "./sqlite-target.ts";
import { type CopiedTable, copiedTables, type Row } from "./tables.ts";

/** A store of either engine. */
export type StoreLocation = { engine: "sqlite"; dataDir: string } | { engine: "postgres"; url: string };

export interface CopyOptions {
  from: StoreLocation;
  /** Of the other engine. */
  to: StoreLocation;
  observer?: CopyObserver;
  /** The most rows that a page has. */
  maxRows?: number;
}

export interface CopyObserver {
  /** Rows to go through: each is copied once, and then read back. */
  onBegin?(rows: number): void;
  onRows?(rows: number): void;
  /** All tables are copied first, and then checked. */
  onTable?(table: string, rows: number, step: "copied" | "checked"): void;
}

export interface CopiedRows {
  table: string;
  rows: number;
  /** Of all rows, equal at both ends. */
  checksum: string;
  /** Texts in which NUL became U+FFFD. */
  replaced: number;
}

export interface CopyReport {
  from: string;
  to: string;
  /** Rows that an earlier, interrupted run had copied. */
  resumedAt: number;
  tables: CopiedRows[];
}

interface Run {
  source: CopySource;
  target: CopyTarget;
  observer: CopyObserver;
  maxRows: number;
}

/** Rejects with an `AppError` whose sentence has the remedy. Nothing of the source is ever changed. */
export async function copyStore({ from, to, observer = {}, maxRows = 5000 }: CopyOptions): Promise<CopyReport> {
  const source = await (from.engine === "sqlite" ? openSqliteSource(from.dataDir) : openPostgresSource(from.url));
  try {
    const target = await (to.engine === "sqlite"
      ? openSqliteTarget(to.dataDir, source.name)
      : openPostgresTarget(to.url, source.name));
    try {
      return await run({ source, target, observer, maxRows });
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function run(run: Run): Promise<CopyReport> {
  const { source, target, observer } = run;
  try {
    const resumedAt = [...target.progress.values()].reduce((sum, { rows }) => sum + rows, 0);
    await announce(source, observer, resumedAt);
    const replaced = new Map<CopiedTable, number>();
    for (const table of copiedTables) replaced.set(table, await copyTable(run, table));
    const tables: CopiedRows[] = [];
    const lastNumbers = new Map<CopiedTable, number>();
    for (const table of copiedTables) {
      tables.push({ table: table.name, ...(await verifyTable(run, table)), replaced: replaced.get(table) ?? 0 });
      if (table.isNumbered) lastNumbers.set(table, await source.findLastNumber(table));
    }
    await target.finish(lastNumbers);
    return { from: source.name, to: target.name, resumedAt, tables };
  } catch (error) {
    if (error instanceof AppError && error.code === "conflict") throw error;
    const cause = error instanceof AppError ? (error.cause ?? error) : error;
    throw new AppError("unavailable", "The copy was interrupted. The same command goes on where it was.", { cause });
  }
}

async function announce(source: CopySource, observer: CopyObserver, resumedAt: number): Promise<void> {
  if (observer.onBegin === undefined) return;
  let rows = 0;
  for (const table of copiedTables) rows += await source.countRows(table);
  observer.onBegin(rows * 2);
  observer.onRows?.(resumedAt);
}

/** Resolves with how many texts had a NUL replaced, in all runs. */
async function copyTable({ source, target, observer, maxRows }: Run, table: CopiedTable): Promise<number> {
  let { last: after, rows, replaced } = target.progress.get(table.name) ?? { last: null, rows: 0, replaced: 0 };
  for await (const page of readPages(source, table, { after, maxRows })) {
    after = page.last;
    rows += page.rows.length;
    replaced += page.replaced;
    await target.writePage(table, page.rows, { last: after, rows, replaced });
    observer.onRows?.(page.rows.length);
  }
  observer.onTable?.(table.name, rows, "copied");
  return replaced;
}

/** Throws `conflict` if the two ends differ. */
async function verifyTable({ source, target, observer, maxRows }: Run, table: CopiedTable) {
  const [there, here] = await Promise.all([
    sumUp(source, table, maxRows),
    sumUp(target, table, maxRows, observer.onRows),
  ]);
  const [expected, found] = [String(there), String(here)];
  if (there.rows === here.rows && expected === found) {
    observer.onTable?.(table.name, here.rows, "checked");
    return { rows: here.rows, checksum: found };
  }
  throw new AppError(
    "conflict",
    `The table ${table.name} differs after the copy: ${there.rows} rows with checksum ${expected} in ${source.name}, ` +
      `${here.rows} with ${found} in ${target.name}. Did anything write to the source since the copy began? ` +
      `The target stays unusable: ${target.howToEmpty}, and copy again.`,
  );
}

async function sumUp(end: ReadableEnd, table: CopiedTable, maxRows: number, onRows?: (rows: number) => void) {
  const checksum = new Checksum();
  for await (const { rows } of readPages(end, table, { after: null, maxRows })) {
    checksum.add(rows);
    onRows?.(rows.length);
  }
  return checksum;
}

/** A table's rows as one number, which does not depend on their order: the engines sort some keys differently. */
class Checksum {
  rows = 0;
  #sum = 0n;

  add(rows: readonly Row[]): void {
    this.rows += rows.length;
    for (const row of rows) this.#sum = BigInt.asUintN(64, this.#sum + Bun.hash.xxHash64(JSON.stringify(row)));
  }

  /** 16 hexadecimal digits. */
  toString(): string {
    return this.#sum.toString(16).padStart(16, "0");
  }
}

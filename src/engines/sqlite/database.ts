/** The connection. It tracks its statements, so that it can close cleanly, and tests can observe it. */
import { Database, type SQLQueryBindings } from "bun:sqlite";
import { type StatsFs, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { unavailable } from "./failures.ts";

export interface StoreObserver {
  /** A statement was compiled: after their first use, hot paths must not compile any. */
  onPrepare?: (sql: string) => void;
  /** A statement was executed, including `BEGIN`, `COMMIT` and savepoints. */
  onStatement?: (sql: string) => void;
  /** A transaction of `writes` grouped writes was committed. */
  onCommit?: (writes: number) => void;
  /** The log was copied into the database file or emptied, with a commit of the thread that does so. */
  onCheckpoint?: () => void;
}

interface Finalizable {
  finalize(): void;
}

/** The name of a database that is in no file, and gone once its connection is closed. */
export const inMemory = ":memory:";

/** What a group of writes is sure to find on the disk. */
const leastRoomBytes = 1024 * 1024;

const executing: ReadonlySet<string | symbol> = new Set(["run", "get", "all", "values", "iterate"]);

function observeStatement<S extends object>(statement: S, sql: string, observer: StoreObserver): S {
  return new Proxy(statement, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (...parameters: unknown[]) => {
        if (executing.has(name)) observer.onStatement?.(sql);
        return Reflect.apply(value, target, parameters);
      };
    },
  });
}

export class StoreDatabase extends Database {
  #observer: StoreObserver | null = null;
  #statements: WeakRef<Finalizable>[] = [];
  #sweepAt = 512;
  /** Null without a file. */
  readonly #fileNumber = this.filename === inMemory ? null : statSync(this.filename).ino;

  /** Observes statements compiled from now on. */
  watch(observer: StoreObserver): void {
    this.#observer = observer;
  }

  override prepare<Row, Parameters extends SQLQueryBindings | SQLQueryBindings[]>(
    sql: string,
    parameters?: Parameters,
  ) {
    const statement = super.prepare<Row, Parameters>(sql, parameters);
    this.#statements.push(new WeakRef(statement));
    if (this.#statements.length >= this.#sweepAt) {
      this.#statements = this.#statements.filter((reference) => reference.deref() !== undefined);
      this.#sweepAt = this.#statements.length * 2 + 512;
    }
    const observer = this.#observer;
    if (observer === null) return statement;
    observer.onPrepare?.(sql);
    return observeStatement(statement, sql, observer);
  }

  /** Throws if the file was moved or deleted: SQLite would keep writing to a file that cannot be found. */
  requireFile(): void {
    if (this.#fileNumber === null) return;
    const found = statSync(this.filename, { throwIfNoEntry: false });
    if (found?.ino !== this.#fileNumber) throw unavailable(new Error(`${this.filename} was moved or deleted`));
  }

  /**
   * Throws `unavailable` on a full disk. Most file systems refuse the write itself; but some take it, and refuse only the
   * sync, after which no one knows what is on disk.
   */
  requireRoom(): void {
    if (this.#fileNumber === null) return;
    let facts: StatsFs;
    try {
      facts = statfsSync(dirname(this.filename));
    } catch (error) {
      throw unavailable(error);
    }
    const { blocks, bavail, bfree, bsize } = facts;
    const free = process.geteuid?.() === 0 ? bfree : bavail;
    // Some report nothing.
    if (blocks > 0 && free * bsize < leastRoomBytes) throw unavailable(new Error("the disk is full"));
  }

  /** With an open statement, SQLite would keep the connection, its lock and its log file until the process ends. */
  closeWithStatements(): void {
    for (const reference of this.#statements.splice(0)) reference.deref()?.finalize();
    try {
      this.close(true);
    } catch {
      // A statement that is out of reach, but not yet swept, is still open.
      Bun.gc(true);
      this.close();
    }
  }
}

/** The connection itself: knows its statements, so that it can close cleanly, and can be watched by tests. */
import { Database, type SQLQueryBindings } from "bun:sqlite";
import { statSync } from "node:fs";
import { unavailable } from "./failures.ts";

export interface StoreObserver {
  /** A statement was compiled: hot paths must show none after their first use. */
  onPrepare?: (sql: string) => void;
  /** A statement was executed; `BEGIN`, `COMMIT` and savepoints included. */
  onStatement?: (sql: string) => void;
  /** A transaction of `writes` grouped writes was committed. */
  onCommit?: (writes: number) => void;
}

interface Finalizable {
  finalize(): void;
}

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
  readonly #fileNumber = statSync(this.filename).ino;

  /** Statements compiled from now on are watched. */
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

  /** Throws where the file is gone from its place: SQLite would go on writing into one that nobody finds again. */
  requireFile(): void {
    const found = statSync(this.filename, { throwIfNoEntry: false });
    if (found?.ino !== this.#fileNumber) throw unavailable(new Error(`${this.filename} was moved or deleted`));
  }

  /** With a statement left open, SQLite would keep the connection and its log file until the process ends. */
  closeWithStatements(): void {
    for (const reference of this.#statements.splice(0)) reference.deref()?.finalize();
    this.close();
  }
}

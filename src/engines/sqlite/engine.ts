/** The shared base of all parts of the store: prepared statements, reads, and the queue of writes. */
import type { SQLQueryBindings, Statement } from "bun:sqlite";
import { Checkpoints } from "./checkpoints.ts";
import { inMemory, type StoreDatabase, type StoreObserver } from "./database.ts";
import { isBusy, toStoreError, unavailable } from "./failures.ts";
import { defaultLockLimitMs, retryWhileBusy } from "./retry.ts";
import { WriteAheadLog } from "./write-ahead-log.ts";
import { WriteQueue } from "./writer.ts";

/** A query that is compiled on first use and kept: compiling all of them would slow down the start. */
export class Query<Row, Parameters extends SQLQueryBindings[]> {
  readonly #compile: () => Statement<Row, SQLQueryBindings[]>;
  #statement: Statement<Row, SQLQueryBindings[]> | null = null;

  constructor(compile: () => Statement<Row, SQLQueryBindings[]>) {
    this.#compile = compile;
  }

  get statement(): Statement<Row, SQLQueryBindings[]> {
    this.#statement ??= this.#compile();
    return this.#statement;
  }

  get(...parameters: Parameters): Row | null {
    return this.statement.get(...parameters);
  }

  all(...parameters: Parameters): Row[] {
    return this.statement.all(...parameters);
  }

  /** Returns how many rows were changed. */
  run(...parameters: Parameters): number {
    return this.statement.run(...parameters).changes;
  }
}

/**
 * If a query sorts, joins, groups or has a limit, SQLite inspects the values of bare parameters to plan it, and
 * compiles the statement again whenever one is bound, which takes ten times as long as a small query itself. A plus in
 * front of the parameter prevents that; it changes neither value nor type, and indexes still work.
 */
function hideParameters(sql: string): string {
  return sql.replaceAll("?", "+?");
}

const busySleepMs = 10;

export interface EngineOptions {
  observer?: StoreObserver | undefined;
  /** How long to wait for another process's lock before giving up. */
  lockLimitMs?: number | undefined;
  /** Called once, when it can no longer be known what is on disk: the process has to end. */
  onLost?: ((error: unknown) => void) | undefined;
  /** A checkpoint failed, and is tried again once the log has grown. */
  onCheckpointProblem?: ((error: unknown) => void) | undefined;
  /** Replaced in tests. */
  sync?: () => Promise<void>;
}

export class SqliteEngine {
  readonly #database: StoreDatabase;
  readonly #writes: WriteQueue;
  /** Null without a file. */
  readonly #files: { log: WriteAheadLog; checkpoints: Checkpoints } | null;
  readonly #begin;
  readonly #end;
  readonly #lockLimitMs: number;
  readonly #dataVersion;
  #seenDataVersion = -1;
  /** Reset after each turn of the event loop. */
  #isVersionKnown = false;
  readonly #forgetVersion = () => {
    this.#isVersionKnown = false;
  };
  #changeMark = 0;
  #closing: Promise<void> | null = null;

  constructor(database: StoreDatabase, options: EngineOptions = {}) {
    const { observer = {}, lockLimitMs = defaultLockLimitMs, onLost, onCheckpointProblem, sync } = options;
    this.#database = database;
    this.#lockLimitMs = lockLimitMs;
    this.#begin = this.query("BEGIN");
    this.#end = this.query("COMMIT");
    this.#dataVersion = this.query<{ data_version: number }>("PRAGMA data_version");
    const log = database.filename === inMemory ? null : new WriteAheadLog(database.filename);
    this.#writes = new WriteQueue(database, {
      ...{ observer, lockLimitMs, onLost },
      sync: sync ?? (log && (() => log.sync())),
      onCommit: () => this.#files?.checkpoints.noteCommit(),
    });
    const events = { onProblem: onCheckpointProblem, onDone: observer.onCheckpoint };
    this.#files = log && { log, checkpoints: new Checkpoints(database, this.#writes, events) };
    // Commits and checkpoints leave the disk to these.
    database.run("PRAGMA synchronous = NORMAL");
    database.run("PRAGMA wal_autocheckpoint = 0");
  }

  /** A function builds the text on first use. */
  query<Row, Parameters extends SQLQueryBindings[] = []>(sql: string | (() => string)): Query<Row, Parameters> {
    return new Query(() => {
      const text = typeof sql === "string" ? sql : sql();
      return this.#database.prepare<Row, SQLQueryBindings[]>(hideParameters(text));
    });
  }

  /** Runs `work`, and repeats it while another process holds a lock. */
  async read<T>(work: () => T): Promise<T> {
    if (this.#closing !== null) throw unavailable();
    try {
      return work();
    } catch (error) {
      if (!isBusy(error)) throw toStoreError(error);
    }
    return await retryWhileBusy(work, this.#lockLimitMs);
  }

  /**
   * Runs reads that belong together: they see one state of the database, and SQLite takes its locks only once, which
   * costs several times as much as a small read.
   */
  snapshot<T>(work: () => T): Promise<T> {
    return this.read(() => {
      this.#begin.run();
      try {
        return work();
      } finally {
        this.#end.run();
      }
    });
  }

  /**
   * A number that stays the same only while there is no commit, in this process or another: what was read under it may be
   * reused. Call it inside `read`, together with the use.
   *
   * Other processes are checked once per turn of the event loop. All requests of that turn had arrived before the
   * check, so none of them can have been sent after a later commit. Our own commits count immediately.
   */
  readChangeMark(): number {
    if (this.#isVersionKnown) return this.#changeMark;
    // SQLite reports the commits of all other connections.
    const version = this.#dataVersion.get()?.data_version ?? -1;
    this.#isVersionKnown = true;
    setImmediate(this.#forgetVersion);
    if (version !== this.#seenDataVersion) {
      this.#seenDataVersion = version;
      this.#changeMark++;
    }
    return this.#changeMark;
  }

  /**
   * Runs `work` in a transaction; resolves once it is on disk. `work` is synchronous and may run again from the start.
   */
  write<T>(work: () => T): Promise<T> {
    return this.append(() => {
      // Nothing reads between here and the commit, and one mark too many costs only a read.
      this.#changeMark++;
      return work();
    });
  }

  /** The same for frequent writes that change nothing that is cached: the change mark stays the same. */
  async append<T>(work: () => T): Promise<T> {
    if (this.#closing !== null) throw unavailable();
    return await this.#writes.run(work);
  }

  /** The same for what counts only once a later `write` commits it: the disk is not waited for before that. */
  async stage<T>(work: () => T): Promise<T> {
    if (this.#closing !== null) throw unavailable();
    return await this.#writes.run(work, false);
  }

  /** Throws `unavailable` if the database file was moved or deleted. */
  requireFile(): void {
    this.#database.requireFile();
  }

  /**
   * Empties the write-ahead log after a deletion: the text is overwritten in the database file, but earlier pages are
   * still in the log. Resolves once it contains nothing committed before; rejects with `unavailable` if a reader keeps
   * it in use.
   */
  async emptyLog(): Promise<void> {
    if (this.#files === null) return;
    if (this.#closing !== null) throw unavailable();
    const deadlineMs = performance.now() + defaultLockLimitMs;
    while (!(await this.#files.checkpoints.empty())) {
      if (performance.now() > deadlineMs) throw unavailable(new Error("the write-ahead log is in use"));
      await Bun.sleep(busySleepMs);
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#writes.drain();
    await this.#files?.checkpoints.close();
    // What closes last copies the log into the database file, which is left to a process that reads both from the disk.
    if (this.#writes.isLost) return;
    try {
      this.#database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get();
    } catch {
      // Only a convenience for copies of the file: the log itself is durable.
    }
    this.#database.closeWithStatements();
    this.#files?.log.close();
  }
}

/**
 * The number of an account, used where repeating its id in every row would cost space. Create one per part of the
 * store, and call it inside reads and writes. Null if there is no such account.
 */
export function createAccountNumberFinder(engine: SqliteEngine): (accountId: string) => number | null {
  const select = engine.query<{ number: number }, [string]>("SELECT number FROM accounts WHERE id = ?");
  return (accountId) => select.get(accountId)?.number ?? null;
}

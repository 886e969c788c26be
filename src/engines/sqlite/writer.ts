/** The single queue of all writes: those that arrive together share one commit, and locks are waited for here. */
import type { StoreDatabase, StoreObserver } from "./database.ts";
import { isBusy, isStorageFailure, toStoreError, unavailable } from "./failures.ts";
import { sleepBeforeTry } from "./retry.ts";

interface Job {
  work: () => unknown;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
  deadlineMs: number;
  isLasting: boolean;
}

/** A group ends early after this long, so that the event loop gets its turn. */
const groupLimitMs = 20;
/** The longest that a write waits for others to share its commit, and only right after another commit. */
const gatherLimitMs = 10;
/** A commit blocks the event loop until the disk has it: while writes share them, at most a fifth of the time goes into that. */
const gatherPerCommit = 4;

export class WriteQueue {
  readonly #database: StoreDatabase;
  readonly #observer: StoreObserver;
  readonly #lockLimitMs: number;
  readonly #begin;
  readonly #commit;
  readonly #rollback;
  readonly #savepoint;
  readonly #release;
  readonly #undo;
  #pending: Job[] = [];
  #isScheduled = false;
  #busyTries = 0;
  #committedAtMs = Number.NEGATIVE_INFINITY;
  #commitTookMs = 0;
  #wasShared = false;
  #isWaitingForDisk = true;
  #whenIdle: (() => void)[] = [];

  constructor(database: StoreDatabase, observer: StoreObserver, lockLimitMs: number) {
    this.#database = database;
    this.#observer = observer;
    this.#lockLimitMs = lockLimitMs;
    this.#begin = database.prepare("BEGIN IMMEDIATE");
    this.#commit = database.prepare("COMMIT");
    this.#rollback = database.prepare("ROLLBACK");
    this.#savepoint = database.prepare("SAVEPOINT write");
    this.#release = database.prepare("RELEASE write");
    this.#undo = database.prepare("ROLLBACK TO write");
  }

  /**
   * Runs `work` inside a transaction and resolves with its result once that is on disk. `work` must finish before it
   * returns: code after an `await` would run outside the transaction, so returning a promise is a defect.
   *
   * What is not `isLasting` is on disk with the next commit that is: a crash of the machine before that takes it away whole.
   */
  run<T>(work: () => T, isLasting = true): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const deadlineMs = performance.now() + this.#lockLimitMs;
      this.#pending.push({ work, resolve: resolve as Job["resolve"], reject, deadlineMs, isLasting });
      this.#schedule();
    });
  }

  /** Resolves when nothing is waiting any more. */
  async drain(): Promise<void> {
    if (this.#pending.length === 0) return;
    await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
  }

  #schedule(): void {
    if (this.#isScheduled || this.#pending.length === 0) return;
    this.#isScheduled = true;
    const flush = () => this.#flush();
    if (this.#busyTries > 0) {
      setTimeout(flush, sleepBeforeTry(this.#busyTries));
      return;
    }
    // An idle queue commits immediately. If commits follow each other, waiting several times as long as the last one
    // took lets writes accumulate, and leaves the event loop most of its time on a slow disk. After a commit of a
    // single write the wait is shorter: it probably comes from an import, which has no other write until this one is
    // done.
    const waitMs = Math.min(gatherLimitMs, (this.#wasShared ? gatherPerCommit : 1) * this.#commitTookMs);
    const gatherMs = waitMs - (performance.now() - this.#committedAtMs);
    if (gatherMs >= 0.5) setTimeout(flush, gatherMs);
    else setImmediate(flush);
  }

  #flush(): void {
    this.#isScheduled = false;
    if (this.#begins()) this.#runGroup();
    this.#schedule();
    if (this.#pending.length === 0) for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  /** False if another process holds the lock: those that waited too long are rejected, the rest is retried later. */
  #begins(): boolean {
    try {
      this.#chooseDurability();
      this.#begin.run();
      this.#busyTries = 0;
      return true;
    } catch (error) {
      if (!isBusy(error)) {
        for (const job of this.#pending.splice(0)) job.reject(toStoreError(error));
        return false;
      }
      this.#busyTries++;
      const nowMs = performance.now();
      const expired = this.#pending.filter((job) => job.deadlineMs <= nowMs);
      this.#pending = this.#pending.filter((job) => job.deadlineMs > nowMs);
      for (const job of expired) job.reject(unavailable(error));
      return false;
    }
  }

  /** Of the commit that comes: the log is written in order, so that waiting for it covers all commits before. */
  #chooseDurability(): void {
    const isLasting = this.#pending.some((job) => job.isLasting);
    if (isLasting === this.#isWaitingForDisk) return;
    // Takes effect when it is compiled: a prepared one would do so once.
    this.#database.run(`PRAGMA synchronous = ${isLasting ? "FULL" : "NORMAL"}`);
    this.#isWaitingForDisk = isLasting;
  }

  #runGroup(): void {
    const startedMs = performance.now();
    const isAlone = this.#pending.length === 1;
    const settle: (() => void)[] = [];
    const started: Job[] = [];
    try {
      while (this.#pending.length > started.length) {
        if (started.length > 0 && performance.now() - startedMs > groupLimitMs) break;
        const job = this.#pending[started.length];
        if (job === undefined) break;
        started.push(job);
        settle.push(this.#runJob(job, isAlone));
      }
      const commitStartedMs = performance.now();
      // SQLite has already rolled back after a failed single write.
      if (this.#database.inTransaction) {
        this.#database.requireFile();
        this.#commit.run();
        this.#committedAtMs = performance.now();
        this.#commitTookMs = this.#committedAtMs - commitStartedMs;
        this.#wasShared = !isAlone;
        this.#observer.onCommit?.(started.length);
      }
    } catch (error) {
      if (this.#database.inTransaction) this.#rollback.run();
      this.#pending.splice(0, started.length);
      for (const job of started) job.reject(toStoreError(error));
      return;
    }
    this.#pending.splice(0, started.length);
    for (const done of settle) done();
  }

  /** Returns how to settle the job after the commit; throws if the whole group is lost. */
  #runJob(job: Job, isAlone: boolean): () => void {
    if (!isAlone) this.#savepoint.run();
    try {
      const value = job.work();
      if (value instanceof Promise) throw new TypeError("a write must not be asynchronous");
      if (!isAlone) this.#release.run();
      return () => job.resolve(value);
    } catch (error) {
      // After some failures SQLite has rolled back everything automatically.
      if (isStorageFailure(error) || isBusy(error) || !this.#database.inTransaction) throw error;
      if (isAlone) {
        this.#rollback.run();
      } else {
        this.#undo.run();
        this.#release.run();
      }
      return () => job.reject(error);
    }
  }
}

/**
 * The single queue of all writes: those that arrive together share one commit, and locks are waited for here. Nothing
 * waits for the disk on the event loop: a commit hands its pages to the system, and what it wrote is resolved once the
 * log has been synced beside the loop. Meanwhile nothing else is committed, so that what arrives shares the next one.
 */
import type { StoreDatabase, StoreObserver } from "./database.ts";
import { isBusy, isFailedSync, isStorageFailure, toStoreError, unavailable } from "./failures.ts";
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

export interface WriteQueueOptions {
  observer: StoreObserver;
  lockLimitMs: number;
  /** Resolves once everything committed before the call is on disk. Null without a file. */
  sync: (() => Promise<void>) | null;
  /** A transaction was committed. */
  onCommit?: (() => void) | undefined;
  /** Called once, when it can no longer be known what is on disk: nothing is written from then on. */
  onLost?: ((error: unknown) => void) | undefined;
}

export class WriteQueue {
  readonly #database: StoreDatabase;
  readonly #observer: StoreObserver;
  readonly #lockLimitMs: number;
  readonly #sync: (() => Promise<void>) | null;
  readonly #onCommit: () => void;
  readonly #onLost: (error: unknown) => void;
  readonly #begin;
  readonly #commit;
  readonly #rollback;
  readonly #savepoint;
  readonly #release;
  readonly #undo;
  #pending: Job[] = [];
  #isScheduled = false;
  #busyTries = 0;
  /** How many syncs and checkpoints run, during which no write begins. */
  #pauses = 0;
  /** Why no write is accepted; null while they are. */
  #refusal: unknown = null;
  #isLost = false;
  #whenIdle: (() => void)[] = [];

  constructor(database: StoreDatabase, options: WriteQueueOptions) {
    this.#database = database;
    this.#observer = options.observer;
    this.#lockLimitMs = options.lockLimitMs;
    this.#sync = options.sync;
    this.#onCommit = options.onCommit ?? (() => {});
    this.#onLost = options.onLost ?? (() => {});
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
      if (this.#refusal !== null) return reject(unavailable(this.#refusal));
      const deadlineMs = performance.now() + this.#lockLimitMs;
      this.#pending.push({ work, resolve: resolve as Job["resolve"], reject, deadlineMs, isLasting });
      this.#schedule();
    });
  }

  /** Runs `work` while no write begins; those that arrive wait for it, for as long as for a lock. */
  async pauseFor<T>(work: () => Promise<T>): Promise<T> {
    this.#pauses++;
    const refuse = () => this.#refuse(new Error("the disk does not answer"));
    // Twice: where the event loop itself stood still, the disk has answered before the second timer.
    let timer = setTimeout(() => {
      timer = setTimeout(refuse, this.#lockLimitMs / 10);
    }, this.#lockLimitMs);
    try {
      return await work();
    } finally {
      clearTimeout(timer);
      if (--this.#pauses === 0 && !this.#isLost) this.#refusal = null;
      this.#schedule();
      this.#noteIdle();
    }
  }

  /**
   * A sync failed. It is never tried again: the system may have dropped the pages that it could not write, and would
   * report success. What is on disk is only known to the process that opens the file next.
   */
  lose(error: unknown): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#refuse(error);
    this.#onLost(error);
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  /** Resolves when nothing is waiting any more. */
  async drain(): Promise<void> {
    if (this.#isIdle()) return;
    await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
  }

  #isIdle(): boolean {
    return this.#pending.length === 0 && this.#pauses === 0;
  }

  #noteIdle(): void {
    if (this.#isIdle()) for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  /** Refuses what waits, and what comes. */
  #refuse(reason: unknown): void {
    this.#refusal = reason;
    for (const job of this.#pending.splice(0)) job.reject(unavailable(reason));
  }

  #schedule(): void {
    if (this.#isScheduled || this.#pauses > 0 || this.#pending.length === 0) return;
    this.#isScheduled = true;
    const flush = () => this.#flush();
    if (this.#busyTries > 0) setTimeout(flush, sleepBeforeTry(this.#busyTries));
    else setImmediate(flush);
  }

  #flush(): void {
    this.#isScheduled = false;
    // A pause may have begun since, and its end schedules again.
    if (this.#pauses > 0) return;
    if (this.#pending.length > 0 && this.#begins()) this.#runGroup();
    this.#schedule();
    this.#noteIdle();
  }

  /** False if another process holds the lock: those that waited too long are rejected, the rest is retried later. */
  #begins(): boolean {
    try {
      this.#database.requireRoom();
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

  #runGroup(): void {
    const startedMs = performance.now();
    const isAlone = this.#pending.length === 1;
    const settle: (() => void)[] = [];
    const started: Job[] = [];
    let isCommitted = false;
    try {
      while (this.#pending.length > started.length) {
        if (started.length > 0 && performance.now() - startedMs > groupLimitMs) break;
        const job = this.#pending[started.length];
        if (job === undefined) break;
        started.push(job);
        settle.push(this.#runJob(job, isAlone));
      }
      // SQLite has already rolled back after a failed single write.
      isCommitted = this.#database.inTransaction;
      if (isCommitted) {
        this.#database.requireFile();
        this.#commit.run();
        this.#observer.onCommit?.(started.length);
      }
    } catch (error) {
      if (this.#database.inTransaction) this.#rollback.run();
      this.#pending.splice(0, started.length);
      for (const job of started) job.reject(toStoreError(error));
      // Of a log that begins again, the head is synced within the commit.
      if (isFailedSync(error)) this.lose(error);
      return;
    }
    this.#pending.splice(0, started.length);
    if (isCommitted) this.#onCommit();
    if (isCommitted && this.#sync !== null && started.some((job) => job.isLasting)) {
      void this.#settleOnceSynced(started, settle, this.#sync);
    } else for (const done of settle) done();
  }

  async #settleOnceSynced(jobs: readonly Job[], settle: readonly (() => void)[], sync: () => Promise<void>) {
    try {
      await this.pauseFor(sync);
      for (const done of settle) done();
    } catch (error) {
      this.lose(error);
      for (const job of jobs) job.reject(unavailable(error));
    }
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

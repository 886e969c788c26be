/** Copies the write-ahead log into the database file beside the event loop, in a thread that is there while it has work. */
import { statSync } from "node:fs";
import type { StoreDatabase } from "./database.ts";
import { isFailedSync, unavailable } from "./failures.ts";
import type { WriteQueue } from "./writer.ts";

/**
 * `copy` copies what it can while writes go on; `finish` copies the rest and begins the log again; `empty` also cuts the
 * file to nothing before that. No write may begin during the latter two.
 */
export interface CheckpointRequest {
  path: string;
  step: "copy" | "finish" | "empty" | "close";
}

export interface CheckpointReply {
  /** How many pages of the log are not yet in the database file. */
  pages: number;
  failure: { code: string; message: string } | null;
}

/** Pages in the log before it is copied: 4 MiB, as SQLite does it. */
const copiedFrom = 1_000;
/** So many are copied while writes wait; more are copied beside them first. */
const heldPages = 250;
const maxCopies = 4;
/** How long an idle thread, which takes 8 MiB, is kept. */
const idleMs = 30_000;

/** In the executable, modules have paths from the folder of the first one; on Windows its files are on a drive `~BUN`. */
const threadUrl = /\$bunfs|~BUN/.test(import.meta.url)
  ? "./engines/sqlite/checkpoint-thread.ts"
  : new URL("./checkpoint-thread.ts", import.meta.url).href;

export interface CheckpointEvents {
  /** A checkpoint failed, and is tried again once the log has grown. */
  onProblem?: ((error: unknown) => void) | undefined;
  onDone?: (() => void) | undefined;
}

export class Checkpoints {
  readonly #database: StoreDatabase;
  readonly #writes: WriteQueue;
  readonly #onProblem: (error: unknown) => void;
  readonly #onDone: () => void;
  readonly #readLog;
  #thread: Worker | null = null;
  #idleTimer: ReturnType<typeof setTimeout> | null = null;
  #running: Promise<unknown> | null = null;
  #nextFrom = copiedFrom;

  constructor(database: StoreDatabase, writes: WriteQueue, { onProblem, onDone }: CheckpointEvents) {
    this.#database = database;
    this.#writes = writes;
    this.#onProblem = onProblem ?? (() => {});
    this.#onDone = onDone ?? (() => {});
    this.#readLog = database.prepare<{ log: number }, []>("PRAGMA wal_checkpoint(NOOP)");
  }

  /** Call it after a commit: starts a checkpoint if the log has become long. Takes a microsecond. */
  noteCommit(): void {
    if (this.#running !== null) return;
    let pages = 0;
    try {
      pages = this.#readLog.get()?.log ?? 0;
    } catch (error) {
      // What was committed is not lost over that.
      this.#onProblem(error);
    }
    if (pages < this.#nextFrom) return;
    this.#run(() => this.#copy()).then(
      (left) => {
        // A reader of another process, such as a backup, keeps the log as it is: not every commit should try again.
        this.#nextFrom = left === 0 ? copiedFrom : pages + copiedFrom;
      },
      (error) => {
        this.#nextFrom = pages + copiedFrom;
        this.#onProblem(error);
      },
    );
  }

  /** Leaves nothing in the log that was committed before; false if a reader prevents that. */
  async empty(): Promise<boolean> {
    // As after a clean start: no thread has to come for that.
    if (statSync(`${this.#database.filename}-wal`, { throwIfNoEntry: false })?.size === 0) return true;
    return await this.#whenIdle(async () => (await this.#writes.pauseFor(() => this.#ask("empty"))) === 0);
  }

  /** Waits for what runs, and ends the thread. */
  async close(): Promise<void> {
    await this.#whenIdle(async () => {
      if (this.#thread === null) return;
      // Its connections first: their locks would outlive it.
      await this.#ask("close").catch(() => {});
      this.#dropThread();
    });
  }

  async #whenIdle<T>(work: () => Promise<T>): Promise<T> {
    while (this.#running !== null) await this.#running.catch(() => {});
    return await this.#run(work);
  }

  #run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#idleTimer !== null) clearTimeout(this.#idleTimer);
    const running = work().finally(() => {
      this.#running = null;
      if (this.#thread === null) return;
      this.#idleTimer = setTimeout(() => void this.close(), idleMs);
      this.#idleTimer.unref();
    });
    this.#running = running;
    return running;
  }

  /** Returns how many pages are left, as `#ask` does. */
  async #copy(): Promise<number> {
    let left = await this.#ask("copy");
    for (let copies = 1; left > heldPages && copies < maxCopies; copies++) left = await this.#ask("copy");
    return await this.#writes.pauseFor(() => this.#ask("finish"));
  }

  /** Rejects with `unavailable`. */
  async #ask(step: CheckpointRequest["step"]): Promise<number> {
    // Under the path there may be another database by now, which is none of ours.
    if (step !== "close") this.#database.requireFile();
    this.#thread ??= new Worker(threadUrl, { smol: true });
    const thread = this.#thread;
    const reply = Promise.withResolvers<CheckpointReply>();
    thread.onmessage = ({ data }: MessageEvent<CheckpointReply>) => reply.resolve(data);
    thread.onerror = ({ message }) => {
      this.#dropThread();
      reply.reject(unavailable(new Error(`the thread of checkpoints: ${message}`)));
    };
    thread.postMessage({ path: this.#database.filename, step } satisfies CheckpointRequest);
    const { pages, failure } = await reply.promise;
    if (step === "finish" || step === "empty") this.#onDone();
    if (failure === null) return pages;
    const error = Object.assign(new Error(failure.message), { code: failure.code });
    if (isFailedSync(error)) this.#writes.lose(error);
    throw unavailable(error);
  }

  #dropThread(): void {
    this.#thread?.terminate();
    this.#thread = null;
  }
}

/** Connections to PostgreSQL with deadlines of our own: the driver waits for an answer without limit. */
import type { SQL } from "bun";
import { afterAnswerable } from "../../lib/deadline.ts";
import { isLostConnection, toStoreError, unavailable } from "./failures.ts";
import { type DriverQuery, type Parameter, Queries, type Rows } from "./queries.ts";

export interface PoolObserver {
  /** A statement was sent, also `BEGIN` and `COMMIT`. */
  onStatement?: (text: string) => void;
}

export interface PoolOptions {
  connect: () => SQL;
  /** How long one query, or the wait for a connection, may take. */
  deadlineMs: number;
  observer?: PoolObserver | undefined;
}

const repeatAfterMs = 25;

/** A connection for the caller alone. Call `release` once. */
export interface OwnConnection {
  /** Not bounded by a deadline: the caller's is. */
  send(text: string, parameters?: readonly Parameter[]): DriverQuery;
  release(): void;
}

export class Pool {
  /** For reads: one whose connection was just ended goes on another. */
  readonly reads: Queries;
  /** For single statements that may write; sent once, so that nothing happens twice. */
  readonly once: Queries;
  /** Queries and reservations under way, the waiting ones included. */
  openCount = 0;
  /** How often no answer came in time. */
  timeoutCount = 0;
  readonly #options: PoolOptions;
  #sql: SQL;
  #isClosed = false;
  #answeredAtMs = 0;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#sql = options.connect();
    this.reads = new Queries((text, parameters) => this.#query(text, parameters, true));
    this.once = new Queries((text, parameters) => this.#query(text, parameters, false));
  }

  /** Rejects with `unavailable` if no connection is free in time. */
  async reserve(): Promise<OwnConnection> {
    const reserving = this.#sql.reserve();
    let isTooLate = false;
    try {
      const connection = await this.inTime(() => reserving);
      return {
        send: (text, parameters = []) => {
          this.#options.observer?.onStatement?.(text);
          return connection.unsafe(text, parameters as Parameter[]) as unknown as DriverQuery;
        },
        release: () => connection.release(),
      };
    } catch (error) {
      isTooLate = true;
      throw error;
    } finally {
      // A connection that comes after all goes back.
      if (isTooLate) reserving.then((late) => late.release()).catch(() => {});
    }
  }

  /**
   * Rejects with `unavailable` past the deadline. If nothing at all was answered meanwhile, the connections lead nowhere
   * and are replaced; otherwise there were too few.
   */
  async inTime<T>(work: () => PromiseLike<T>, deadlineMs = this.#options.deadlineMs): Promise<T> {
    if (this.#isClosed) throw unavailable();
    const late = Promise.withResolvers<never>();
    const sql = this.#sql;
    const startedMs = performance.now();
    const cancel = afterAnswerable(deadlineMs, () => {
      this.timeoutCount++;
      if (this.#answeredAtMs < startedMs) this.#replace(sql);
      late.reject(unavailable(new Error(`PostgreSQL did not answer within ${deadlineMs} ms`)));
    });
    this.openCount++;
    try {
      const result = await Promise.race([work(), late.promise]);
      this.#answeredAtMs = performance.now();
      return result;
    } catch (error) {
      throw toStoreError(error);
    } finally {
      this.openCount--;
      cancel();
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#sql.close({ timeout: 0 });
  }

  #query(text: string, parameters: readonly Parameter[], isRepeatable: boolean): Promise<Rows<unknown>> {
    const send = () => {
      this.#options.observer?.onStatement?.(text);
      return this.#sql.unsafe(text, parameters as Parameter[]) as unknown as DriverQuery;
    };
    return this.inTime(async () => {
      try {
        return await send();
      } catch (error) {
        if (!isRepeatable || !isLostConnection(error)) throw error;
        // Where one connection was ended, the others often are, and the driver has not noticed all of them yet.
        await Bun.sleep(repeatAfterMs);
        return await send();
      }
    });
  }

  #replace(failed: SQL): void {
    if (this.#sql !== failed || this.#isClosed) return;
    this.#sql = this.#options.connect();
    void failed.close({ timeout: 0 }).catch(() => {});
  }
}

/** The shared base of all parts of the store: reads, transactions, and lookups that requests share. */
import type { SQL } from "bun";
import { createChangeOrder } from "./change-order.ts";
import { causeOf, isCollision, isLostConnection, toStoreError } from "./failures.ts";
import { Pool, type PoolObserver } from "./pool.ts";
import type { Queries } from "./queries.ts";
import { createSharedLookup, type SharedLookupOptions } from "./shared-lookup.ts";
import { type Transaction, transact } from "./transaction.ts";

export interface EngineOptions {
  /** Opens the connections for what requests wait for, and for what takes long. */
  connectQuick: () => SQL;
  connectHeavy: () => SQL;
  observer?: PoolObserver | undefined;
}

const quickDeadlineMs = 5_000;
const heavyDeadlineMs = 60_000;
/** How often a transaction is begun anew. */
const mostTries = 5;
/** Where connections cannot be had, the driver itself takes seconds to say so. */
const reconnectMs = 3_000;

export class PostgresEngine {
  /** For requests. */
  readonly quickPool: Pool;
  /** For searches, sums and background work, which requests must not queue behind. */
  readonly heavyPool: Pool;
  /** Reads. */
  readonly quick: Queries;
  readonly heavy: Queries;
  readonly #inOrder = createChangeOrder();

  constructor({ connectQuick, connectHeavy, observer }: EngineOptions) {
    this.quickPool = new Pool({ connect: connectQuick, deadlineMs: quickDeadlineMs, observer });
    this.heavyPool = new Pool({ connect: connectHeavy, deadlineMs: heavyDeadlineMs, observer });
    this.quick = this.quickPool.reads;
    this.heavy = this.heavyPool.reads;
  }

  /**
   * Runs `work` in a transaction; resolves once it is on disk. `work` may run again from the start: after a collision
   * with another transaction, or if the connection was lost before the commit. It sees what was committed before each
   * of its statements, so it takes a lock first where it decides by what it reads.
   */
  write<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return repeat(() => transact(this.quickPool, work));
  }

  /** The same for what takes long, such as imports and deletions in the background. */
  writeHeavy<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return repeat(() => transact(this.heavyPool, work));
  }

  /**
   * For all changes that people make to what an account owns: one at a time, so that limits hold, and rows become
   * visible in the order of their numbers.
   */
  change<T>(accountId: string, work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.#inOrder(accountId, () => this.write((transaction) => inAccount(transaction, accountId, work)));
  }

  changeHeavy<T>(accountId: string, work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.#inOrder(accountId, () => this.writeHeavy((transaction) => inAccount(transaction, accountId, work)));
  }

  /** See `createSharedLookup`. */
  lookup<Row extends { lookupKey: string }>(text: string | (() => string)): (key: string) => Promise<Row | null>;
  lookup<Row extends { lookupKey: string }, Found>(
    text: string | (() => string),
    options: SharedLookupOptions<Row, Found>,
  ): (key: string) => Promise<Found | null>;
  lookup<Row extends { lookupKey: string }>(
    text: string | (() => string),
    options: SharedLookupOptions<Row, unknown> = { read: (row) => row },
  ): (key: string) => Promise<unknown> {
    return createSharedLookup(this.quick, text, options);
  }

  async close(): Promise<void> {
    await Promise.all([this.quickPool.close(), this.heavyPool.close()]);
  }
}

async function inAccount<T>(
  transaction: Transaction,
  accountId: string,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  await transaction.lock(`account ${accountId}`);
  return await work(transaction);
}

async function repeat<T>(run: () => Promise<T>): Promise<T> {
  const reconnectsUntilMs = performance.now() + reconnectMs;
  for (let tries = 1; ; tries++) {
    try {
      return await run();
    } catch (error) {
      const cause = causeOf(error);
      const isWorthIt = isCollision(cause) || (isLostConnection(cause) && performance.now() < reconnectsUntilMs);
      if (tries === mostTries || !isWorthIt) throw toStoreError(error);
    }
  }
}

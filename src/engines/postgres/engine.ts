/** The shared base of all parts of the store: reads, transactions, and lookups that requests share. */
import type { SQL } from "bun";
import { createKeyedQueue } from "../../lib/keyed-queue.ts";
import { Stop } from "../../lib/stop-signal.ts";
import { causeOf, isCollision, isLostConnection, toStoreError, unavailable } from "./failures.ts";
import { Pool, type PoolObserver } from "./pool.ts";
import type { Queries } from "./queries.ts";
import { type Transaction, transact } from "./transaction.ts";

export interface EngineOptions {
  /** Opens the connections for what requests wait for, and for what takes long. */
  connectQuick: () => SQL;
  connectHeavy: () => SQL;
  observer?: PoolObserver | undefined;
}

const quickDeadlineMs = 5_000;
const heavyDeadlineMs = 60_000;
/** How often a transaction is restarted. */
const maxTries = 5;
/** Where connections cannot be had, the driver itself takes seconds to report it. */
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

  /** One at a time under this name, at this server: those that wait for each other anyway hold no connection. */
  writeInOrder<T>(name: string, work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.#inOrder(`in order ${name}`, () => this.write(work));
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
      if (tries === maxTries || !isWorthIt) throw toStoreError(error);
    }
  }
}

const maxWaiting = 1_000;
const maxWaitMs = 10_000;

/**
 * Changes of one account at this server, one after the other in the order in which they were asked for. They would
 * wait for the account's lock anyway; here those that wait hold no connection, so that a burst on one account leaves
 * the connections to the others. `run` rejects with `unavailable` where too many wait, or the turn does not come in
 * time.
 */
export function createChangeOrder(waitMs = maxWaitMs) {
  const queue = createKeyedQueue({ maxWaiting });

  return async function run<T>(accountId: string, work: () => Promise<T>): Promise<T> {
    const patience = new Stop();
    const entering = queue.enter(accountId, patience);
    if (entering === null) throw unavailable(new Error("too many changes of one account wait"));
    const timer = setTimeout(
      () => patience.abort(unavailable(new Error(`earlier changes of the account took longer than ${waitMs} ms`))),
      waitMs,
    );
    const release = await entering.finally(() => clearTimeout(timer));
    try {
      return await work();
    } finally {
      release();
    }
  };
}

interface Waiting<Found> {
  resolve(found: Found | null): void;
  reject(error: unknown): void;
}

/** More keys than this go into several queries. */
const maxKeys = 500;

interface SharedLookupOptions<Row, Found> {
  /** Makes what callers get of a row. */
  read: (row: Row) => Found;
  /** Called before each query is sent; the result is called with its rows. */
  begin?: () => (rows: readonly Row[]) => void;
}

/**
 * Lookups by a key that all requests of one turn of the event loop share: one query for all of them. So revocation
 * works with the next request at any server, and a lookup costs little more than in memory. `text` has one parameter,
 * `$1::text[]`, and selects the key as `lookupKey`. What is found may be shared by several callers, who must not
 * change it.
 */
function createSharedLookup<Row extends { lookupKey: string }, Found>(
  queries: Pick<Queries, "all">,
  text: string | (() => string),
  { read, begin }: SharedLookupOptions<Row, Found>,
): (key: string) => Promise<Found | null> {
  let gathered: Map<string, Waiting<Found>[]> | null = null;
  let statement: string | null = typeof text === "string" ? text : null;

  function flush(): void {
    const waiting = gathered ?? new Map();
    gathered = null;
    const keys = [...waiting.keys()];
    for (let at = 0; at < keys.length; at += maxKeys) void answer(keys.slice(at, at + maxKeys), waiting);
  }

  async function answer(keys: readonly string[], waiting: ReadonlyMap<string, Waiting<Found>[]>): Promise<void> {
    try {
      statement ??= typeof text === "string" ? text : text();
      const answered = begin?.();
      const rows = await queries.all<Row>(statement, [keys]);
      answered?.(rows);
      const found = new Map(rows.map((row) => [row.lookupKey, read(row)]));
      for (const key of keys) for (const { resolve } of waiting.get(key) ?? []) resolve(found.get(key) ?? null);
    } catch (error) {
      for (const key of keys) for (const { reject } of waiting.get(key) ?? []) reject(error);
    }
  }

  return (key) =>
    new Promise((resolve, reject) => {
      // PostgreSQL would refuse the query, and with it the keys of all others.
      if (key.includes("\0")) return resolve(null);
      if (gathered === null) {
        gathered = new Map();
        setImmediate(flush);
      }
      const others = gathered.get(key);
      if (others === undefined) gathered.set(key, [{ resolve, reject }]);
      else others.push({ resolve, reject });
    });
}

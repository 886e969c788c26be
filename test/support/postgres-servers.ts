/** Several servers on one PostgreSQL database, and what that database holds of a companion. */

import { afterAll } from "bun:test";
import { SQL } from "bun";
import type { Account } from "../../src/domain/account.ts";
import type { Companion } from "../../src/domain/companion.ts";
import { type OpenedPostgres, openPostgresStore } from "../../src/engines/postgres/open.ts";
import type { PoolObserver } from "../../src/engines/postgres/pool.ts";
import { createCapturedLog } from "./captured-log.ts";
import { reuseDatabases } from "./postgres-store.ts";
import { day, openWorld, type StoreWorld } from "./store-world.ts";

export interface PostgresServerWorld extends StoreWorld {
  opened: OpenedPostgres;
  /** Any mark taken from now on comes after all that is committed, as with the next request. */
  renewMark(): Promise<void>;
}

export interface Tally {
  /** Rows, and as conversations count them. */
  messages: number;
  countedMessages: number;
  conversations: number;
  usage: number;
  monthly: number;
  ofAccount: number;
  quota: number;
  deadlocks: number;
}

export interface PostgresServers {
  worlds: [PostgresServerWorld, PostgresServerWorld];
  account: Account;
  companion: Companion;
  /** Connections of its own. */
  sql: SQL;
  tally(): Promise<Tally>;
  close(): Promise<void>;
}

export interface ServersOptions {
  /** Where the servers reach the database, such as through a proxy. */
  reachAt?: (url: string) => string;
  observer?: PoolObserver;
  /** By default one in the shared server, which is emptied for the next. */
  createDatabase?: () => Promise<{ url: string; drop(): Promise<void> }>;
}

const databases = reuseDatabases();
afterAll(() => databases[Symbol.asyncDispose]());

/** Two servers, with an account and a companion. */
export async function openPostgresServers(options: ServersOptions = {}): Promise<PostgresServers> {
  const { reachAt = (url) => url, observer, createDatabase = databases.make } = options;
  const { url, drop } = await createDatabase();
  const sql = new SQL(url, { max: 2 });

  async function openServer(): Promise<PostgresServerWorld> {
    const pools = { pool: 6, poolHeavy: 2, ...(observer === undefined ? {} : { observer }) };
    const opened = await openPostgresStore({ url: reachAt(url), log: createCapturedLog(), ...pools });
    const { store, parts } = opened;
    const world = await openWorld(async () => ({ store, arrivals: parts.arrivals, close: () => store.close() }));
    return { ...world, opened, renewMark: () => parts.erasures.renewMark() };
  }

  const worlds: PostgresServers["worlds"] = [await openServer(), await openServer()];
  const account = await worlds[0].createAccount();
  const companion = await worlds[0].createCompanion(account);
  return {
    worlds,
    account,
    companion,
    sql,
    async tally() {
      const [row] = await sql`SELECT
        (SELECT count(*)::int FROM messages) AS messages,
        (SELECT coalesce(sum(message_count), 0)::int FROM conversations) AS "countedMessages",
        (SELECT count(*)::int FROM conversations) AS conversations,
        (SELECT coalesce(sum(messages), 0)::int FROM usage_daily WHERE day = ${day}) AS usage,
        (SELECT coalesce(sum(messages), 0)::int FROM usage_monthly) AS monthly,
        (SELECT coalesce(sum(messages), 0)::int FROM usage_account_daily) AS "ofAccount",
        (SELECT coalesce(sum(messages), 0)::int FROM quota_daily) AS quota,
        (SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()) AS deadlocks`;
      return row as Tally;
    },
    async close() {
      await Promise.all(worlds.map((world) => world.close()));
      await sql.close();
      await drop();
    },
  };
}

/** What the database holds after so many turns of two messages each, all of them settled once. */
export function settledTally(turns: number, conversations: number): Tally {
  const messages = 2 * turns;
  const counted = { usage: turns, monthly: turns, ofAccount: turns, quota: turns };
  return { messages, countedMessages: messages, conversations, ...counted, deadlocks: 0 };
}

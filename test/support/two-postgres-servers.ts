/** Two stores on one PostgreSQL database, as two servers have them. */
import { afterAll } from "bun:test";
import type { Store } from "../../src/contracts/store/store.ts";
import type { PostgresEngine } from "../../src/engines/postgres/engine.ts";
import { type OpenedPostgres, openPostgresStore } from "../../src/engines/postgres/open.ts";
import { createCapturedLog } from "./captured-log.ts";
import { openTemporaryPostgresStore, reuseDatabases } from "./postgres-store.ts";
import { openWorld, type StoreWorld } from "./store-world.ts";

export interface TwoServers {
  /** Of the store `here`; closes both. */
  world: StoreWorld;
  here: Store;
  there: Store;
  /** Of `here`. */
  engine: PostgresEngine;
  /** What the servers themselves have of their stores. */
  opened: { here: OpenedPostgres; there: OpenedPostgres };
  /** What both have sent. */
  statements: string[];
  /** Does it at both in turn, all in parallel, and separates the results. */
  race<T>(
    count: number,
    attempt: (store: Store, number: number) => Promise<T>,
  ): Promise<{ results: T[]; reasons: unknown[] }>;
  /** Transactions begun by both; each collision restarts one. */
  countBegun(): number;
}

const databases = reuseDatabases();
afterAll(() => databases[Symbol.asyncDispose]());

export async function openTwoServers(): Promise<TwoServers> {
  const statements: string[] = [];
  const observer = { onStatement: (text: string) => void statements.push(text) };
  const first = await openTemporaryPostgresStore({ observer }, databases.make);
  const second = await openPostgresStore({ url: first.url, pool: 6, poolHeavy: 2, log: createCapturedLog(), observer });
  const [here, there] = [first.store, second.store];
  async function close() {
    await there.close();
    await first.close();
  }
  return {
    world: await openWorld(async () => ({ ...first, close })),
    here,
    there,
    engine: first.engine,
    opened: { here: first, there: second },
    statements,
    async race(count, attempt) {
      const attempts = Array.from({ length: count }, (_, number) => attempt(number % 2 === 0 ? here : there, number));
      const outcomes = await Promise.allSettled(attempts);
      return {
        results: outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : [])),
        reasons: outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : [])),
      };
    },
    countBegun: () => statements.filter((text) => text.startsWith("BEGIN")).length,
  };
}

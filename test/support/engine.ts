/**
 * The storage engine of the tests that make whole requests or run commands: SQLite, or with
 * `COMPANIOND_TEST_ENGINE=postgres` the servers in `COMPANIOND_TEST_POSTGRES`, where each data directory has a database
 * of its own, and `COMPANIOND_TEST_REDIS`. `scripts/engine-tests.ts` lists which
 * files the gate runs on both.
 */
import { test } from "bun:test";
import { openStore } from "../../src/app/services.ts";
import { loadConfig } from "../../src/config/config.ts";
import type { Store } from "../../src/contracts/store/store.ts";
import { sha256Hex } from "../../src/lib/sha256.ts";
import { createCapturedLog } from "./captured-log.ts";
import { databasesOf, type PostgresDatabases } from "./postgres-databases.ts";
import { providePostgresTemplate } from "./postgres-template.ts";

export const isOnPostgres = process.env["COMPANIOND_TEST_ENGINE"] === "postgres";

/** For tests of what only one engine has; the reason is for the reader. On another engine there is no such test. */
export function onlyOnSqlite(_reason: string): (name: string, run: () => Promise<void>) => void {
  return isOnPostgres ? () => {} : test;
}

/** Opened together, each a process of the server: few, but more than one thing at a time. */
const pools = { COMPANIOND_DATABASE_POOL: "4", COMPANIOND_DATABASE_POOL_HEAVY: "2" };
const secretKey = Buffer.alloc(32, 7).toString("base64");

/**
 * The variables for servers and commands on this data directory; makes its database if there is none. `isShared`: for
 * servers that work on it at the same time, which count in Redis then.
 */
export async function engineEnvironment(
  dataDir: string,
  { isShared = false }: { isShared?: boolean | undefined } = {},
): Promise<Record<string, string>> {
  if (!isOnPostgres) return {};
  if (isShared) return { ...(await engineEnvironment(dataDir)), REDIS_URL: findServer("COMPANIOND_TEST_REDIS") };
  const name = databaseOf(dataDir);
  const made = databases.get(name) ?? provideDatabase(name);
  databases.set(name, made);
  return environmentOf(await made);
}

/** The URLs of databases that this process has found or made, by name: servers and commands ask again and again. */
const databases = new Map<string, Promise<string>>();

async function provideDatabase(name: string): Promise<string> {
  const server = findDatabases();
  template ??= providePostgresTemplate(server);
  return (await server.provideDatabase(name, { template: await template })).url;
}

/** Deletes the directory's database, if it has one outside of itself. */
export async function dropEngineDatabase(dataDir: string): Promise<void> {
  if (!isOnPostgres) return;
  databases.delete(databaseOf(dataDir));
  await findDatabases().dropDatabase(databaseOf(dataDir));
}

/** A second process's view of this data, as a command has it. */
export async function openStoreBeside(dataDir: string): Promise<Store> {
  const config = loadConfig({ environment: { COMPANIOND_DATA_DIR: dataDir, ...(await engineEnvironment(dataDir)) } });
  return await openStore(config, { log: createCapturedLog() });
}

function findDatabases(): PostgresDatabases {
  return databasesOf(findServer("COMPANIOND_TEST_POSTGRES"));
}

function findServer(variable: string): string {
  const url = process.env[variable];
  if (url === undefined) throw new Error(`${variable} names no server`);
  return url;
}

/** The same in all processes that work with the directory. */
function databaseOf(dataDir: string): string {
  return `test_${sha256Hex(dataDir).slice(0, 32)}`;
}

function environmentOf(url: string): Record<string, string> {
  return { DATABASE_URL: url, COMPANIOND_SECRET_KEY: secretKey, ...pools };
}

let template: Promise<string> | undefined;

/** PostgreSQL stores, each in a database of its own that is copied from a migrated template. */

import { type OpenedPostgres, openPostgresStore, type PostgresStoreOptions } from "../../src/engines/postgres/open.ts";
import { createCapturedLog } from "./captured-log.ts";
import { eventually } from "./eventually.ts";
import { queryRows } from "./postgres-databases.ts";
import { sharedPostgres } from "./postgres-server.ts";
import { providePostgresTemplate } from "./postgres-template.ts";

/** Opened together, each a process of the server: few, but more than one thing at a time. */
const pools = { pool: 4, poolHeavy: 2 };
let template: Promise<string> | null = null;

export interface MigratedDatabase {
  url: string;
  drop(): Promise<void>;
}

/** A migrated, empty database. */
export async function createMigratedDatabase(): Promise<MigratedDatabase> {
  const databases = await sharedPostgres();
  template ??= providePostgresTemplate(databases);
  const { name, url } = await databases.createDatabase(await template);
  return { url, drop: () => databases.dropDatabase(name) };
}

export interface TemporaryPostgresStore extends OpenedPostgres {
  url: string;
  arrivals: OpenedPostgres["parts"]["arrivals"];
  close(): Promise<void>;
}

/** `close` closes the store and drops its database. */
export async function openTemporaryPostgresStore(
  options: Partial<PostgresStoreOptions> = {},
  makeDatabase = createMigratedDatabase,
): Promise<TemporaryPostgresStore> {
  const { url, drop } = await makeDatabase();
  const opened = await openPostgresStore({ url, ...pools, log: createCapturedLog(), ...options });
  const { arrivals } = opened.parts;
  async function close() {
    await opened.store.close();
    await drop();
  }
  return { ...opened, url, arrivals, close };
}

export interface ReusedDatabases extends AsyncDisposable {
  /** As `createMigratedDatabase`, but `drop` empties the database, which then is the next one's. */
  make(): Promise<MigratedDatabase>;
}

/** For many small tests: to empty a database takes a tenth of the time that another one does. */
export function reuseDatabases(): ReusedDatabases {
  const free: MigratedDatabase[] = [];
  return {
    async make() {
      const database = free.pop() ?? (await createMigratedDatabase());
      async function drop() {
        await queryRows(database.url, endSessions);
        await queryRows(database.url, deleteEverything);
        free.push(database);
      }
      return { url: database.url, drop };
    },
    async [Symbol.asyncDispose]() {
      for (const { drop } of free.splice(0)) await drop();
    },
  };
}

export interface ReusedStores extends AsyncDisposable {
  /** As `openTemporaryPostgresStore`, but `close` empties the store, which then is the next one's. */
  open(): Promise<TemporaryPostgresStore>;
}

/** For the smallest tests: new connections take more of the server's time than what the tests do. */
export function reuseStores(): ReusedStores {
  const free: TemporaryPostgresStore[] = [];
  return {
    async open() {
      const opened = free.pop() ?? (await openTemporaryPostgresStore());
      const { engine, parts } = opened;
      async function close() {
        // What it deletes in the background would be deleted beside it, in another order.
        parts.removals.start();
        await eventually(async () => (await engine.heavy.get("SELECT FROM removals LIMIT 1")) === null);
        await engine.writeHeavy((transaction) => transaction.run(deleteEverything));
        free.push(opened);
      }
      return { ...opened, close };
    },
    async [Symbol.asyncDispose]() {
      for (const { close } of free.splice(0)) await close();
    },
  };
}

/** Also waits for those that are still ending. */
const endSessions = `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
  WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()`;

/** All rows but the one that records how far the database is migrated. */
const deleteEverything = `DO $$
DECLARE
  name regclass;
  has_rows boolean;
BEGIN
  -- Neither triggers nor foreign keys: everything goes.
  SET LOCAL session_replication_role = replica;
  FOR name IN
    SELECT oid FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname <> 'companiond'
  LOOP
    EXECUTE format('SELECT EXISTS (SELECT FROM %s)', name) INTO has_rows;
    IF has_rows THEN
      EXECUTE format('DELETE FROM %s', name);
    END IF;
  END LOOP;
END $$`;

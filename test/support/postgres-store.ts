/** PostgreSQL stores, each in a database of its own that is copied from a migrated template. */

import { migratePostgres } from "../../src/store/postgres/migrator.ts";
import {
  createEngine,
  type OpenedPostgres,
  openPostgresStore,
  type PostgresStoreOptions,
} from "../../src/store/postgres/open.ts";
import { createCapturedLog } from "./captured-log.ts";
import { type PostgresDatabases, queryRows } from "./postgres-databases.ts";
import { sharedPostgres } from "./postgres-server.ts";

const pools = { pool: 10, poolHeavy: 4 };
let template: Promise<string> | null = null;

async function makeTemplate(databases: PostgresDatabases): Promise<string> {
  const { name, url } = await databases.createDatabase();
  const engine = createEngine({ url, ...pools, log: createCapturedLog() });
  await migratePostgres(engine.heavyPool);
  await engine.close();
  return name;
}

export interface MigratedDatabase {
  url: string;
  drop(): Promise<void>;
}

/** A migrated, empty database. */
export async function createMigratedDatabase(): Promise<MigratedDatabase> {
  const databases = await sharedPostgres();
  template ??= makeTemplate(databases);
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
): Promise<TemporaryPostgresStore> {
  const { url, drop } = await createMigratedDatabase();
  return await openAt(url, drop, options);
}

export interface ReusedDatabases extends AsyncDisposable {
  /** `close` closes the store and empties its database, which then is the next one's. */
  open(): Promise<TemporaryPostgresStore>;
}

/** For many small tests: to empty a database takes a tenth of the time that another one does. */
export function reuseDatabases(): ReusedDatabases {
  const free: MigratedDatabase[] = [];
  return {
    async open() {
      const database = free.pop() ?? (await createMigratedDatabase());
      return await openAt(database.url, async () => {
        await queryRows(database.url, deleteEverything);
        free.push(database);
      });
    },
    async [Symbol.asyncDispose]() {
      for (const { drop } of free.splice(0)) await drop();
    },
  };
}

async function openAt(
  url: string,
  clear: () => Promise<void>,
  options: Partial<PostgresStoreOptions> = {},
): Promise<TemporaryPostgresStore> {
  const opened = await openPostgresStore({ url, ...pools, log: createCapturedLog(), ...options });
  const { arrivals } = opened.parts;
  async function close() {
    await opened.store.close();
    await clear();
  }
  return { ...opened, url, arrivals, close };
}

/** All rows but the one that says how far the database is migrated; numbers begin anew. */
const deleteEverything = `DO $$
DECLARE
  of_schema record;
  has_rows boolean;
BEGIN
  -- Neither triggers nor foreign keys: everything goes.
  SET LOCAL session_replication_role = replica;
  FOR of_schema IN
    SELECT oid::regclass AS name, relkind AS kind FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'S') AND relname <> 'companiond'
  LOOP
    IF of_schema.kind = 'S' THEN
      PERFORM setval(of_schema.name, 1, false);
    ELSE
      EXECUTE format('SELECT EXISTS (SELECT FROM %s)', of_schema.name) INTO has_rows;
      IF has_rows THEN
        EXECUTE format('DELETE FROM %s', of_schema.name);
      END IF;
    END IF;
  END LOOP;
END $$`;

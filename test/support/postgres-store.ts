/** PostgreSQL stores, each in a database of its own that is copied from a migrated template. */

import { migratePostgres } from "../../src/store/postgres/migrator.ts";
import {
  createEngine,
  type OpenedPostgres,
  openPostgresStore,
  type PostgresStoreOptions,
} from "../../src/store/postgres/open.ts";
import { createCapturedLog } from "./captured-log.ts";
import type { PostgresDatabases } from "./postgres-databases.ts";
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

/** A migrated, empty database. */
export async function createMigratedDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
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
  const opened = await openPostgresStore({ url, ...pools, log: createCapturedLog(), ...options });
  const { arrivals } = opened.parts;
  async function close() {
    await opened.store.close();
    await drop();
  }
  return { ...opened, url, arrivals, close };
}

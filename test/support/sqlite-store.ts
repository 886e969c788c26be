/** SQLite stores in temporary directories. */
import type { Store } from "../../src/contracts/store/store.ts";
import { createErasureMarks } from "../../src/engines/memory/coordination/erasure-marks.ts";
import { openSqliteStore, type SqliteStoreOptions } from "../../src/engines/sqlite/open.ts";
import { createCapturedLog } from "./captured-log.ts";
import { provideSqlite } from "./sqlite-template.ts";
import { temporaryDirectory } from "./temporary.ts";

/** Of a migrated file, unless there is one: the migrator has tests of its own. */
export async function openStoreAt(dataDir: string, options: Partial<SqliteStoreOptions> = {}): Promise<Store> {
  await provideSqlite(dataDir);
  return await openSqliteStore({ dataDir, log: createCapturedLog(), erasures: createErasureMarks(), ...options });
}

export async function openTemporaryStore(options: Partial<SqliteStoreOptions> = {}) {
  const directory = temporaryDirectory();
  const arrivals = options.erasures ?? createErasureMarks();
  const store = await openStoreAt(directory.path, { ...options, erasures: arrivals });
  async function close() {
    await store.close();
    directory[Symbol.dispose]();
  }
  return { store, arrivals, dataDir: directory.path, close };
}

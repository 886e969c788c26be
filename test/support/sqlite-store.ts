/** SQLite stores in temporary directories. */
import { openSqliteStore, type SqliteStoreOptions } from "../../src/store/sqlite/open.ts";
import type { Store } from "../../src/store/store.ts";
import { createCapturedLog } from "./captured-log.ts";
import { temporaryDirectory } from "./temporary.ts";

export function openStoreAt(dataDir: string, options: Partial<SqliteStoreOptions> = {}): Promise<Store> {
  return openSqliteStore({ dataDir, log: createCapturedLog(), ...options });
}

export async function openTemporaryStore(options: Partial<SqliteStoreOptions> = {}) {
  const directory = temporaryDirectory();
  const store = await openStoreAt(directory.path, options);
  async function close() {
    await store.close();
    directory[Symbol.dispose]();
  }
  return { store, dataDir: directory.path, close };
}

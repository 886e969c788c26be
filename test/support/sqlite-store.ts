/** SQLite stores in temporary directories. */
import { createErasureMarks } from "../../src/coordination/erasure-marks.ts";
import { openSqliteStore, type SqliteStoreOptions } from "../../src/store/sqlite/open.ts";
import type { Store } from "../../src/store/store.ts";
import { createCapturedLog } from "./captured-log.ts";
import { temporaryDirectory } from "./temporary.ts";

export function openStoreAt(dataDir: string, options: Partial<SqliteStoreOptions> = {}): Promise<Store> {
  return openSqliteStore({ dataDir, log: createCapturedLog(), erasures: createErasureMarks(), ...options });
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

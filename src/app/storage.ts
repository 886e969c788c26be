/** Which storage engine holds the data, and how it is opened: for a server, or only the store for a command. */
import type { Config } from "../config/config.ts";
import type { OpenOptions, StorageEngine } from "../contracts/store/engine.ts";
import type { Store } from "../contracts/store/store.ts";
import { AppError } from "../domain/errors.ts";
import { createErasureMarks } from "../engines/memory/coordination/erasure-marks.ts";
import { createPostgres } from "../engines/postgres/postgres.ts";
import { createSqlite } from "../engines/sqlite/sqlite.ts";
import { buildInfo } from "../lib/build-info.ts";
import { systemClock } from "../lib/clock.ts";
import { processLog } from "../lib/log.ts";
import type { ServiceOverrides } from "./opened-services.ts";

/** The storage engine that the configuration chooses. */
export function storageOf({ dataDir, database = null }: Pick<Config, "dataDir"> & Partial<Config>): StorageEngine {
  return database === null ? createSqlite(dataDir) : createPostgres(database);
}

/** Why no server begins with the empty database of `DATABASE_URL`: the data is still in the directory. Null if none is. */
export function findUncopied(dataDir: string): { detail: string; advice: string } | null {
  if (!createSqlite(dataDir).exists()) return null;
  return {
    detail: `${dataDir} holds a database, and that of DATABASE_URL is empty.`,
    advice:
      `Move the data with companiond copy --from sqlite:${dataDir} --to postgres, or name an empty directory with ` +
      "--data-dir to begin without it.",
  };
}

/** Opens only the store, for a command. */
export async function openStore(
  config: Config,
  {
    log = processLog(),
    isMigration = false,
    use = "makes",
  }: Partial<Pick<OpenOptions, "log" | "isMigration" | "use">> = {},
): Promise<Store> {
  const options = toOpenOptions(config, {}, { log, erasures: createErasureMarks() });
  const { store } = await storageOf(config).open({ ...options, isCommand: true, isMigration, use });
  return store;
}

/** What the storage engine is opened with. */
export function toOpenOptions(
  { backup, redisUrl, dataDir }: Config,
  { clock = systemClock }: ServiceOverrides,
  options: Pick<OpenOptions, "log" | "erasures" | "onLost">,
): OpenOptions {
  return {
    ...options,
    clock,
    version: buildInfo.version,
    backupDir: backup.dir,
    sharesWindows: redisUrl !== null,
    beforeFirst() {
      const forgotten = findUncopied(dataDir);
      if (forgotten !== null) throw new AppError("conflict", `${forgotten.detail} ${forgotten.advice}`);
    },
  };
}

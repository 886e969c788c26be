/** Uploads a backup made for that, and fetches one to inspect it, for commands. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { storageOf } from "../app/services.ts";
import type { Config } from "../config/config.ts";
import type { StorageLock } from "../contracts/store/engine.ts";
import type { Fetched } from "../core/backups/fetching.ts";
import type { Uploaded } from "../core/backups/upload.ts";
import { AppError } from "../domain/errors.ts";
import { codeOf } from "../lib/error-code.ts";
import { type ActionInput, CommandFailure, file } from "./command.ts";
import { openNamedFile } from "./named-file.ts";
import { askStorage, requireStorage } from "./storage-task.ts";

/** How the storage is written where a file could stand: `s3:` alone, or before the name of a backup in it. */
export const storageMark = "s3:";

export const identityOption = {
  "age-identity": { value: file, about: "The age identity that opens an encrypted backup, as age-keygen writes it." },
};

/** With another engine, this program makes none: the engine's refusal names the tool for it. */
export function requireOwnBackups(config: Config): Config {
  if (config.database !== null) storageOf(config).examine("");
  return config;
}

export async function uploadNow(input: ActionInput): Promise<Uploaded> {
  const config = requireOwnBackups(input.loadConfig());
  input.io.user.settle();
  const storage = requireStorage(config);
  const { ageRecipient } = storage;
  const nowMs = input.clock.nowMs();
  if (!existsSync(config.dataDir)) throw new CommandFailure(`There is no database in ${config.dataDir}.`);
  return await inWorkspace(config.dataDir, async (dir) => {
    const file = join(dir, "database");
    storageOf(config).backup(file);
    const upload = { file, madeAtMs: nowMs, keep: config.backup.keep, ageRecipient, nowMs };
    return await askStorage(input.io.environment, storage, "upload", upload);
  });
}

/** Fetches the backup of that name (null: the newest), and hands it over until `work` is done with it. */
export async function withFetched<Result>(
  input: ActionInput,
  name: string | null,
  work: (fetched: Fetched) => Result,
): Promise<Result> {
  const config = requireOwnBackups(input.loadConfig());
  const storage = requireStorage(config);
  const identityText = readIdentity(input);
  input.io.user.settle();
  return await inWorkspace(config.dataDir, async (dir) => {
    return work(await askStorage(input.io.environment, storage, "fetch", { name, dir, identityText }));
  });
}

const maxIdentityBytes = 64 * 1024;

function readIdentity({ args, io }: ActionInput): string | null {
  const path = args.find("age-identity");
  if (path === undefined) return null;
  const file = openNamedFile(io.user, path);
  if (file.size > maxIdentityBytes) throw new CommandFailure(`--age-identity: ${path} is too large for an identity.`);
  return Buffer.from(file.read()).toString();
}

const start = "unfinished-backup-";

/**
 * A directory for files that a command needs for a while: in the data directory, so that a database never leaves the
 * file system that the operator chose for it. It is removed with the command, however that ends; what a killed one
 * leaves is removed by the next: no one holds its lock any more.
 */
async function inWorkspace<Result>(dataDir: string, work: (dir: string) => Promise<Result>): Promise<Result> {
  const { dir, lock } = make(dataDir);
  const remove = () => {
    rmSync(dir, { recursive: true, force: true });
    lock.release();
  };
  // A signal ends the process immediately.
  process.on("exit", remove);
  try {
    return await work(dir);
  } finally {
    process.off("exit", remove);
    remove();
  }
}

function make(dataDir: string): { dir: string; lock: StorageLock } {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    for (const entry of readdirSync(dataDir)) if (entry.startsWith(start)) removeAbandoned(join(dataDir, entry));
    const dir = mkdtempSync(join(dataDir, start));
    return { dir, lock: lockOf(dir) };
  } catch (error) {
    const reason = codeOf(error) || String(error);
    throw new CommandFailure(`Nothing can be written to the data directory ${dataDir} (${reason}).`);
  }
}

function removeAbandoned(dir: string): void {
  let lock: StorageLock;
  try {
    lock = lockOf(dir);
  } catch (error) {
    if (error instanceof AppError && error.code === "conflict") return;
    throw error;
  }
  rmSync(dir, { recursive: true, force: true });
  lock.release();
}

/** The one that a database there would have. */
const lockOf = (dir: string) => storageOf({ dataDir: dir }).lock();

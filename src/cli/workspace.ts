/**
 * A directory for files that a command needs for a while: in the data directory, so that a database never leaves the
 * file system that the operator chose for it. It is removed with the command, however that ends; what a killed one
 * leaves is removed by the next: nobody holds its lock any more.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { storageOf } from "../app/services.ts";
import type { StorageLock } from "../contracts/store/engine.ts";
import { AppError } from "../domain/errors.ts";
import { codeOf } from "../lib/error-code.ts";
import { CommandFailure } from "./command.ts";

const start = "unfinished-backup-";

export async function inWorkspace<Result>(dataDir: string, work: (dir: string) => Promise<Result>): Promise<Result> {
  const { dir, lock } = make(dataDir);
  const remove = () => {
    rmSync(dir, { recursive: true, force: true });
    lock.release();
  };
  // A signal ends the process at once.
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

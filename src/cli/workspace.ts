/**
 * A directory for files that a command needs for a while: in the data directory, so that a database never leaves the
 * file system that the operator chose for it. It is removed with the command, however that ends; what a killed one
 * leaves is removed by the next.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { dayMs } from "../lib/instant.ts";
import { CommandFailure } from "./command.ts";

const start = "unfinished-backup-";

export async function inWorkspace<Result>(
  dataDir: string,
  nowMs: number,
  work: (dir: string) => Promise<Result>,
): Promise<Result> {
  const dir = make(dataDir, nowMs);
  const remove = () => rmSync(dir, { recursive: true, force: true });
  // A signal ends the process at once.
  process.on("exit", remove);
  try {
    return await work(dir);
  } finally {
    process.off("exit", remove);
    remove();
  }
}

function make(dataDir: string, nowMs: number): string {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    for (const entry of readdirSync(dataDir)) {
      const left = join(dataDir, entry);
      // No command takes a day.
      if (entry.startsWith(start) && nowMs - statSync(left).mtimeMs > dayMs) rmSync(left, { recursive: true });
    }
    return mkdtempSync(join(dataDir, start));
  } catch (error) {
    const reason = error instanceof Error && "code" in error ? String(error.code) : String(error);
    throw new CommandFailure(`Nothing can be written to the data directory ${dataDir} (${reason}).`);
  }
}

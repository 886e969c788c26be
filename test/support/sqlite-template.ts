/** A migrated SQLite file without rows, made once on this machine: copying it takes a fifth of the time of migrating one. */
import { chmodSync, copyFileSync, existsSync, mkdirSync, renameSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { databasePath } from "../../src/engines/sqlite/connection.ts";
import { migrations } from "../../src/engines/sqlite/migrations.ts";
import { migrateSqlite } from "../../src/engines/sqlite/migrator.ts";
import { sha256Hex } from "../../src/lib/sha256.ts";
import { temporaryDirectory } from "./temporary.ts";

/** A migrated database in the directory, which is made if it is missing. Existing files stay. */
export async function provideSqlite(dataDir: string): Promise<void> {
  const path = databasePath(dataDir);
  if (existsSync(path)) return;
  const template = await provideTemplate();
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  copyFileSync(template, path);
  chmodSync(path, 0o600);
}

async function provideTemplate(): Promise<string> {
  const hash = sha256Hex(JSON.stringify(migrations)).slice(0, 32);
  const template = join(tmpdir(), `companiond-test-template-${hash}.db`);
  if (existsSync(template)) return template;
  using directory = temporaryDirectory();
  await migrateSqlite({ dataDir: directory.path });
  // Atomically: other processes make it at the same time, and theirs is the same.
  renameSync(databasePath(directory.path), template);
  return template;
}

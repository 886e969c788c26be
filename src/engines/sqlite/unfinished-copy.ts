/** Where `companiond copy` makes a database: in a directory of its own, from which it is moved when it is whole. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "../../domain/errors.ts";
import { databasePath } from "./connection.ts";

/** Inside the data directory, so that the finished database is only renamed. */
export function unfinishedCopyDir(dataDir: string): string {
  return join(dataDir, "unfinished-copy");
}

/** Throws `conflict` if a copy into this directory was begun, and nothing else is in it. */
export function requireNoUnfinishedCopy(dataDir: string): void {
  const dir = unfinishedCopyDir(dataDir);
  if (existsSync(databasePath(dataDir)) || !existsSync(databasePath(dir))) return;
  throw new AppError(
    "conflict",
    `The database in ${dataDir} is an unfinished copy. Run the same "companiond copy" again, which goes on where it ` +
      `was, or remove ${dir}.`,
  );
}

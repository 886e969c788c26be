/** Explains why the files of a data directory cannot be opened, where that can be seen from outside. */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { describeNoDatabase, findObstacle, type Obstacle } from "../../contracts/store/data-location.ts";
import { AppError } from "../../domain/errors.ts";
import { codeOf } from "../../lib/error-code.ts";
import { isBusy, toStoreError, unavailable } from "./failures.ts";

export function noDatabase(dataDir: string, sentence = describeNoDatabase(dataDir)): AppError {
  const obstacle = findObstacle(dataDir, "directory");
  if (obstacle === null || canSee(dataDir, obstacle)) return new AppError("not_found", sentence);
  return blocked(obstacle);
}

/** What keeps it from writing does not keep it from seeing that there is nothing. */
function canSee(dataDir: string, { kind }: Obstacle): boolean {
  if (kind === "wrong_kind") return false;
  try {
    lstatSync(join(dataDir, "companiond.db"));
    return true;
  } catch (error) {
    return codeOf(error) === "ENOENT";
  }
}

/** What to throw instead of `error`; `path` is the file that was opened. */
export function explainOpenFailure(dataDir: string, path: string, error: unknown): unknown {
  const cause = error instanceof AppError ? error.cause : error;
  const found = isBusy(cause) ? null : findFileObstacle(dataDir, path);
  if (found !== null) return blocked(found, cause);
  const isOfSystem = error instanceof Error && "syscall" in error;
  return isOfSystem ? unavailable(error) : toStoreError(error);
}

/** Of the directory, or of the file if there is one. */
export function findFileObstacle(dataDir: string, path: string): Obstacle | null {
  const inDirectory = findObstacle(dataDir, "directory");
  if (inDirectory !== null && inDirectory.kind !== "missing") return inDirectory;
  const inFile = findObstacle(path, "file");
  return inFile?.kind === "missing" ? null : inFile;
}

function blocked({ detail, advice }: Obstacle, cause?: unknown): AppError {
  return new AppError("unavailable", `${detail} ${advice}`, { cause });
}

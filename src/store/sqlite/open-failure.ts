/** Says why the files of a data directory cannot be opened, where that can be seen from outside. */
import { AppError } from "../../domain/errors.ts";
import { describeNoDatabase, findObstacle, type Obstacle } from "../contract/data-place.ts";
import { isBusy, toStoreError, unavailable } from "./failures.ts";

export function noDatabase(dataDir: string): AppError {
  const inTheWay = findObstacle(dataDir, "directory");
  if (inTheWay === null || inTheWay.kind === "missing" || inTheWay.kind === "read_only") {
    return new AppError("not_found", describeNoDatabase(dataDir));
  }
  return blocked(inTheWay);
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

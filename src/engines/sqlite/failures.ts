/** Classifies SQLite's failures: worth a retry, storage unavailable, or a defect. */
import { AppError } from "../../domain/errors.ts";

function sqliteCode(error: unknown): string {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return "";
  return error.code;
}

/** Another process holds a lock and will release it. */
export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error);
  return code.startsWith("SQLITE_BUSY") || code.startsWith("SQLITE_LOCKED") || code === "SQLITE_PROTOCOL";
}

const storageCodes = ["FULL", "IOERR", "CANTOPEN", "READONLY", "CORRUPT", "NOTADB", "NOMEM", "PERM", "AUTH"];

/** The disk is full, missing or broken: not the fault of the statement. */
export function isStorageFailure(error: unknown): boolean {
  const code = sqliteCode(error);
  return storageCodes.some((name) => code.startsWith(`SQLITE_${name}`));
}

/** After which it is unknown what is on disk. */
export function isFailedSync(error: unknown): boolean {
  return ["SQLITE_IOERR_FSYNC", "SQLITE_IOERR_DIR_FSYNC"].includes(sqliteCode(error));
}

export function unavailable(cause?: unknown): AppError {
  return new AppError("unavailable", "Storage is currently unavailable. Try again later.", { cause });
}

/** What to reject a caller with: `unavailable` for locks and storage, the unchanged error otherwise. */
export function toStoreError(error: unknown): unknown {
  return isBusy(error) || isStorageFailure(error) ? unavailable(error) : error;
}

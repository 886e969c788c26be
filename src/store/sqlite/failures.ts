/** What SQLite's failures mean to the program: worth another try, storage gone, or a defect. */
import { AppError } from "../../domain/errors.ts";

function sqliteCode(error: unknown): string {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return "";
  return error.code;
}

/** Another process holds a lock that it will give back. */
export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error);
  return code.startsWith("SQLITE_BUSY") || code.startsWith("SQLITE_LOCKED") || code === "SQLITE_PROTOCOL";
}

const storageCodes = ["FULL", "IOERR", "CANTOPEN", "READONLY", "CORRUPT", "NOTADB", "NOMEM", "PERM", "AUTH"];

/** The disk is full, gone or broken: nothing that the statement could have done otherwise. */
export function isStorageFailure(error: unknown): boolean {
  const code = sqliteCode(error);
  return storageCodes.some((name) => code.startsWith(`SQLITE_${name}`));
}

export function isUniqueViolation(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === "SQLITE_CONSTRAINT_UNIQUE" || code === "SQLITE_CONSTRAINT_PRIMARYKEY";
}

export function unavailable(cause?: unknown): AppError {
  return new AppError("unavailable", "Storage is unavailable for the moment. Try again later.", { cause });
}

/** What a caller is to be rejected with: `unavailable` for locks and storage, everything else as it is. */
export function toStoreError(error: unknown): unknown {
  return isBusy(error) || isStorageFailure(error) ? unavailable(error) : error;
}

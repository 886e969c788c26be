/** Classifies PostgreSQL's failures: worth a retry, unavailable, or a defect. */
import { AppError } from "../../domain/errors.ts";

/** SQLSTATE of the server's own errors; empty for the driver's. */
export function sqlState(error: unknown): string {
  if (!(error instanceof Error) || !("errno" in error) || typeof error.errno !== "string") return "";
  return error.errno;
}

/** Two transactions blocked each other: a retry from the start works. */
export function isCollision(error: unknown): boolean {
  return ["40001", "40P01"].includes(sqlState(error));
}

/** The connection is gone, or the server ended it: what was under way on it may or may not have happened. */
export function isLostConnection(error: unknown): boolean {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return false;
  if (/^57P0[123]$/.test(sqlState(error)) || sqlState(error).startsWith("08")) return true;
  return (
    error.code.startsWith("ERR_POSTGRES_CONNECTION") ||
    error.code.startsWith("ERR_POSTGRES_IDLE") ||
    /^(ECONN|EPIPE|ETIMEDOUT)/.test(error.code)
  );
}

/** A lock was not free, or a statement took too long. */
const tooSlow = ["55P03", "57014", "25P03"];
/**
 * Too many connections, no disk space, no memory, a database that is going away; and two for a read-only replica, of which
 * one is its answer to `BEGIN READ WRITE`.
 */
const shortOf = /^(53|58|25006|0A000|57)/;

function isUnavailable(error: unknown): boolean {
  const state = sqlState(error);
  return isLostConnection(error) || isCollision(error) || tooSlow.includes(state) || shortOf.test(state);
}

/** The driver's own error. */
export const causeOf = (error: unknown) => (isAway(error) ? (error as AppError).cause : error);

/** Another statement, on other rows, may succeed meanwhile: PostgreSQL is there. `error` as a pool rejects with it. */
export function concernsItsRows(error: unknown): boolean {
  const cause = causeOf(error);
  return isCollision(cause) || tooSlow.includes(sqlState(cause)) || !isAway(error);
}

/** A defect of the statement or its values, which time does not heal. */
export function isCertainlyUndone(error: unknown): boolean {
  return !isAway(error);
}

function isAway(error: unknown): boolean {
  return error instanceof AppError && error.code === "unavailable";
}

const unavailableSentence = "Storage is currently unavailable. Try again later.";

export function unavailable(cause?: unknown): AppError {
  return new AppError("unavailable", unavailableSentence, { cause });
}

/** Whether it carries no more than that. */
export function isPlainlyUnavailable(error: unknown): error is AppError {
  return error instanceof AppError && error.message === unavailableSentence;
}

/** What to reject a caller with: `unavailable` for lost connections, locks and the like, the unchanged error otherwise. */
export function toStoreError(error: unknown): unknown {
  return isUnavailable(error) ? unavailable(error) : error;
}

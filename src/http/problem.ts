/** Errors as RFC 9457 problem details: the one place where a failure becomes a response. */
import { AppError, errorCodes } from "../domain/errors.ts";

/** The headers of the response under way; Elysia's `set.headers` has this shape. */
export type HeaderBag = Record<string, string | number>;

const plainHeaders = { "x-content-type-options": "nosniff" };
/** A year, and the host alone: what else runs under its domain is not ours to decide for. */
const tlsHeaders = { ...plainHeaders, "strict-transport-security": "max-age=31536000" };

/**
 * What every answer of ours has, whatever it says. Where TLS ends before us, whether browsers may ever come without it
 * again is for the proxy to say.
 */
export function everyResponseHeaders(settings: { readonly isTls: boolean }): Readonly<Record<string, string>> {
  return settings.isTls ? tlsHeaders : plainHeaders;
}

/** Whatever was thrown, as an `AppError`: unknown failures keep their cause and say nothing of it. */
export function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  return new AppError(
    "internal",
    "Something went wrong on our side. Try again; if it persists, report the request id.",
    {
      cause: thrown,
    },
  );
}

/** The problem's body; `baseUrl` without a trailing slash. */
export function renderProblem(error: AppError, requestId: string, baseUrl: string): string {
  const { status, title } = errorCodes[error.code];
  return JSON.stringify({
    type: `${baseUrl}/docs/errors#${error.code}`,
    title,
    status,
    detail: error.message,
    code: error.code,
    request_id: requestId,
    ...(error.errors ? { errors: error.errors } : {}),
  });
}

/** Adds the failure's own headers and returns its status. */
export function applyProblem(error: AppError, headers: HeaderBag): number {
  headers["content-type"] = "application/problem+json";
  headers["cache-control"] = "no-store";
  if (error.retryAfterSeconds !== undefined) headers["retry-after"] = String(Math.max(1, error.retryAfterSeconds));
  if (error.headers) Object.assign(headers, error.headers);
  return errorCodes[error.code].status;
}

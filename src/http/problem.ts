/** Errors as RFC 9457 problem details: the one module where a failure becomes a response. */
import { AppError, errorCodes } from "../domain/errors.ts";

/** The headers of the current response; Elysia's `set.headers` has this shape. */
export type HeaderBag = Record<string, string | number>;

const plainHeaders = { "x-content-type-options": "nosniff" };
/** A year, for this host only: we must not decide for what else runs under its domain. */
const tlsHeaders = { ...plainHeaders, "strict-transport-security": "max-age=31536000" };

/**
 * The headers of every response. If TLS ends before us, the proxy decides whether browsers must always use it.
 */
export function everyResponseHeaders(settings: { readonly isTls: boolean }): Readonly<Record<string, string>> {
  return settings.isTls ? tlsHeaders : plainHeaders;
}

/** Any error as an `AppError`: unknown errors become the cause, and reveal nothing. */
export function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  const sentence = "Something went wrong on our side. Try again; if it persists, report the request id.";
  return new AppError("internal", sentence, { cause: thrown });
}

/** The problem's body; `baseUrl` without a trailing slash. */
export function renderProblem(error: AppError, requestId: string, baseUrl: string): string {
  return JSON.stringify(describeProblem(error, requestId, baseUrl));
}

/** The members of the problem's body. */
export function describeProblem(error: AppError, requestId: string, baseUrl: string) {
  const { status, title } = errorCodes[error.code];
  return {
    type: `${baseUrl}/docs/errors#${error.code}`,
    title,
    status,
    detail: error.message,
    code: error.code,
    request_id: requestId,
    ...(error.errors ? { errors: error.errors } : {}),
    ...error.members,
  };
}

/** Adds the error's own headers and returns its status. */
export function applyProblem(error: AppError, headers: HeaderBag): number {
  headers["content-type"] = "application/problem+json";
  headers["cache-control"] = "no-store";
  if (error.retryAfterSeconds !== undefined) headers["retry-after"] = String(Math.max(1, error.retryAfterSeconds));
  if (error.headers) Object.assign(headers, error.headers);
  return errorCodes[error.code].status;
}

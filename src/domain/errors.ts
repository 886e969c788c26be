/** Every failure that callers may see: its code, status and title, and the error class that carries it. */
import { toUuid } from "../lib/ids.ts";

export const errorCodes = {
  invalid_request: { status: 400, title: "Invalid request" },
  voice_not_configured: { status: 400, title: "Voice is not configured" },
  unauthorized: { status: 401, title: "Unauthorized" },
  totp_required: { status: 401, title: "Second factor required" },
  visitor_unverified: { status: 401, title: "Visitor not verified" },
  origin_not_allowed: { status: 403, title: "Origin not allowed" },
  insufficient_scope: { status: 403, title: "Insufficient scope" },
  limit_reached: { status: 403, title: "Limit of the account reached" },
  challenge_required: { status: 403, title: "Proof of work required" },
  https_required: { status: 403, title: "HTTPS required" },
  not_found: { status: 404, title: "Not found" },
  method_not_allowed: { status: 405, title: "Method not allowed" },
  conflict: { status: 409, title: "Conflict" },
  precondition_failed: { status: 412, title: "Precondition failed" },
  payload_too_large: { status: 413, title: "Payload too large" },
  unsupported_media_type: { status: 415, title: "Unsupported media type" },
  idempotency_mismatch: { status: 422, title: "Idempotency key reused with another body" },
  rate_limited: { status: 429, title: "Too many requests" },
  quota_exceeded: { status: 429, title: "Quota exceeded" },
  budget_exceeded: { status: 429, title: "Budget exceeded" },
  internal: { status: 500, title: "Internal error" },
  upstream_error: { status: 502, title: "Upstream error" },
  unavailable: { status: 503, title: "Temporarily unavailable" },
} as const;

export type ErrorCode = keyof typeof errorCodes;

/** An invalid field: `param` is its path on the wire (`metadata.plan`, `limit`), `detail` a public sentence. */
export interface FieldError {
  param: string;
  detail: string;
}

export interface AppErrorOptions {
  /** The private reason: logged with the request id, never sent. */
  cause?: unknown;
  /** All invalid fields, for `invalid_request`. */
  errors?: readonly FieldError[];
  /** Whole seconds, at least 1, after which a retry can succeed. */
  retryAfterSeconds?: number;
  /** Further response headers that belong to the failure (`Allow`, `WWW-Authenticate`). */
  headers?: Readonly<Record<string, string>>;
  /** Further members of the problem's body. */
  members?: Readonly<Record<string, unknown>>;
  /** True: this state was requested, so it is worth no line in the log. */
  isWanted?: boolean;
}

/** A failure with a public sentence (`message`) and a private cause. Any other error becomes `internal`. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly errors: readonly FieldError[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly members: Readonly<Record<string, unknown>> | undefined;
  readonly isWanted: boolean;

  constructor(code: ErrorCode, publicSentence: string, options: AppErrorOptions = {}) {
    super(publicSentence, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "AppError";
    this.code = code;
    this.errors = options.errors;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.headers = options.headers;
    this.members = options.members;
    this.isWanted = options.isWanted ?? false;
  }
}

/** `invalid_request` that lists all the given fields. */
export function invalidFields(errors: readonly FieldError[]): AppError {
  const names = errors.map((error) => error.param).join(", ");
  return new AppError("invalid_request", `The request is invalid: check ${names}.`, { errors });
}

/** `not_found`, whether the resource never existed, is deleted, or belongs to another account. */
export function missing(noun: string): AppError {
  return new AppError("not_found", `There is no such ${noun}.`);
}

/** The id in its stored form. Throws `missing` if the text is not shaped like an id, so no lookup could find it. */
export function readId(text: string, noun: string): string {
  const id = toUuid(text);
  if (id === undefined) throw missing(noun);
  return id;
}

/** What a change was prepared from is no longer so: it is prepared again, a few times. */
export class OutdatedError extends AppError {
  constructor() {
    super("conflict", "What this changes was changed at the same time. Send it again.", { retryAfterSeconds: 1 });
  }
}

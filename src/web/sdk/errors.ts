/** The one error class of the client: the server's code where it sent one, or what went wrong on the way. */

/** Codes that the server sends. */
export type ServerErrorCode =
  | "invalid_request"
  | "voice_not_configured"
  | "origin_not_allowed"
  | "not_found"
  | "method_not_allowed"
  | "payload_too_large"
  | "unsupported_media_type"
  | "rate_limited"
  | "quota_exceeded"
  | "internal"
  | "upstream_error"
  | "unavailable";

/**
 * - `network`: no answer came, or the connection broke.
 * - `timeout`: the server was silent for too long.
 * - `incomplete`: the reply ended before its terminator; what arrived is only a part.
 * - `bad_response`: what answered does not speak this interface.
 */
export type ClientErrorCode = "network" | "timeout" | "incomplete" | "bad_response";

export type CompanionErrorCode = ServerErrorCode | ClientErrorCode;

export interface CompanionErrorFacts {
  /** HTTP status, or 0 where no response came. */
  status?: number;
  /** How long to wait before another try can succeed; null where the server did not say. */
  retryAfterMs?: number | null;
  /** The server's id of the request, for support. */
  requestId?: string | null;
  cause?: unknown;
}

export class CompanionError extends Error {
  readonly code: CompanionErrorCode;
  readonly status: number;
  readonly retryAfterMs: number | null;
  readonly requestId: string | null;

  constructor(code: CompanionErrorCode, message: string, facts: CompanionErrorFacts = {}) {
    super(message, { cause: facts.cause });
    this.name = "CompanionError";
    this.code = code;
    this.status = facts.status ?? 0;
    this.retryAfterMs = facts.retryAfterMs ?? null;
    this.requestId = facts.requestId ?? null;
  }
}

/** What a status means where the body is no problem document: a proxy in between may have answered. */
const codesByStatus: Record<number, ServerErrorCode> = {
  400: "invalid_request",
  403: "origin_not_allowed",
  404: "not_found",
  413: "payload_too_large",
  429: "rate_limited",
  502: "upstream_error",
  503: "unavailable",
  504: "upstream_error",
};

/** Reads a refused response. Never rejects. */
export async function readProblem(response: Response): Promise<CompanionError> {
  const { status, headers } = response;
  let problem: { code?: unknown; detail?: unknown; request_id?: unknown } = {};
  try {
    problem = Object(await response.json());
  } catch {
    // No JSON: the status alone has to do.
  }
  const code = typeof problem.code === "string" ? (problem.code as ServerErrorCode) : codesByStatus[status];
  const detail = typeof problem.detail === "string" ? problem.detail : `The server answered with status ${status}.`;
  return new CompanionError(code ?? (status >= 500 ? "internal" : "invalid_request"), detail, {
    status,
    retryAfterMs: parseRetryAfter(headers.get("retry-after")),
    requestId: headers.get("x-request-id") ?? (typeof problem.request_id === "string" ? problem.request_id : null),
  });
}

/** Seconds or an HTTP date, in milliseconds from now; null for anything else. */
export function parseRetryAfter(value: string | null, nowMs = Date.now()): number | null {
  if (!value) return null;
  const waitMs = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - nowMs;
  return Number.isNaN(waitMs) ? null : Math.max(0, waitMs);
}

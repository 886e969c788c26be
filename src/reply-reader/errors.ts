/** The one error class of both clients: the server's code where it sent one, or what went wrong in transit. */

/** Codes that the server sends. */
export type ServerErrorCode =
  | "invalid_request"
  | "voice_not_configured"
  | "visitor_unverified"
  | "origin_not_allowed"
  | "challenge_required"
  | "not_found"
  | "method_not_allowed"
  | "conflict"
  | "payload_too_large"
  | "unsupported_media_type"
  | "rate_limited"
  | "quota_exceeded"
  | "budget_exceeded"
  | "internal"
  | "upstream_error"
  | "unavailable";

/** Why the server ended a reply before it was whole, besides `upstream_error` and `unavailable`. */
export type ReplyEndCode = "cancelled" | "abandoned" | "too_long" | "taken";

/**
 * - `network`: no response came, or the connection broke.
 * - `timeout`: the server was silent for too long.
 * - `incomplete`: the reply ended before its terminator; what arrived is only a part.
 * - `bad_response`: the response is not one of this interface.
 * - `replaced`: the server lost the reply and has begun another one to the same message.
 */
export type ConnectionErrorCode = "network" | "timeout" | "incomplete" | "bad_response" | "replaced";

/** `identify_failed`: the page's function gave no visitor token; its own error is the `cause`. */
export type ClientErrorCode = ConnectionErrorCode | "identify_failed";

export type CompanionErrorCode = ServerErrorCode | ReplyEndCode | ClientErrorCode;

/** As the server sends it, in ALTCHA's form. */
export interface Challenge {
  algorithm: string;
  challenge: string;
  maxnumber: number;
  salt: string;
  signature: string;
}

export interface CompanionErrorFacts {
  message?: string;
  /** HTTP status, or 0 where no response came. */
  status?: number;
  /** How long to wait before another try can succeed; null where the server did not send it. */
  retryAfterMs?: number | null;
  /** Whose requests were too many: those of the visitor's network, or all of the companion's. */
  limit?: "ip" | "token" | null;
  /** The server's id of the request, for support. */
  requestId?: string | null;
  /** The connection ended before the answer did: what it was about may go on at the server. */
  isCut?: boolean;
  /** What `challenge_required` asks to solve. */
  challenge?: Challenge | undefined;
  /** The body of the refusal. */
  problem?: unknown;
  cause?: unknown;
}

export class CompanionError extends Error {
  declare readonly code: CompanionErrorCode;
  declare readonly status: number;
  declare readonly retryAfterMs: number | null;
  declare readonly limit: "ip" | "token" | null;
  declare readonly requestId: string | null;
  declare readonly isCut: boolean;
  declare readonly challenge: Challenge | undefined;
  declare readonly problem: unknown;

  /** The message is the server's public sentence, or the code alone where no server spoke. */
  constructor(code: CompanionErrorCode, { message = code, cause, ...facts }: CompanionErrorFacts = {}) {
    super(message, { cause });
    const nothing = { status: 0, retryAfterMs: null, limit: null, requestId: null, isCut: false };
    Object.assign(this, { name: "CompanionError", code, ...nothing, ...facts });
  }
}

/** What a status means where the body is no problem document: it may come from a proxy. */
const codesByStatus: Record<number, ServerErrorCode> = {
  403: "origin_not_allowed",
  404: "not_found",
  429: "rate_limited",
};

/** Reads a refused response. Never rejects. */
export async function readProblem(response: Response): Promise<CompanionError> {
  const { status, headers } = response;
  // Where the body is no JSON, the status alone has to do.
  const problem = await response.json().catch(() => null);
  const { code, detail, challenge } = Object(problem);
  const known = typeof code === "string" ? (code as ServerErrorCode) : (codesByStatus[status] ?? "upstream_error");
  return new CompanionError(known, {
    message: typeof detail === "string" ? detail : known,
    status,
    retryAfterMs: parseRetryAfter(headers.get("retry-after")),
    limit: (/"(ip|token)";r=0\b/.exec(headers.get("ratelimit") ?? "")?.[1] ?? null) as CompanionError["limit"],
    requestId: headers.get("x-request-id"),
    problem,
    challenge,
  });
}

/** Seconds or an HTTP date, in milliseconds from now; null for anything else. */
export function parseRetryAfter(value: string | null): number | null {
  const waitMs = Number(value) * 1000 || Date.parse(value ?? "") - Date.now();
  return waitMs >= 0 ? waitMs : null;
}

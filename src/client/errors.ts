/** The one error class of the client: the server's code where it sent one, or what went wrong on the way. */
import type { Problem } from "./generated/wire.ts";

/** Codes that the server sends. */
export type ServerErrorCode = Problem["code"];

/** Why the server ended a reply before it was whole, besides `upstream_error` and `unavailable`. */
export type ReplyEndCode = "cancelled" | "abandoned" | "too_long";

/**
 * - `network`: no response came, or the connection broke.
 * - `timeout`: the server was silent for too long.
 * - `incomplete`: the reply ended before it was whole; what arrived is only a part, and the `cause` says why if the server did.
 * - `bad_response`: the response is not one of this interface.
 * - `replaced`: the server lost the reply and has begun another one to the same message.
 */
export type ClientErrorCode = "network" | "timeout" | "incomplete" | "bad_response" | "replaced";

export type CompaniondErrorCode = ServerErrorCode | ReplyEndCode | ClientErrorCode;

export interface CompaniondErrorFacts {
  message?: string;
  status?: number;
  errors?: NonNullable<Problem["errors"]>;
  requestId?: string | null;
  retryAfterSeconds?: number | null;
  /** The body of the refusal. */
  problem?: Problem | null;
  cause?: unknown;
}

export class CompaniondError extends Error {
  override readonly name = "CompaniondError";
  readonly code: CompaniondErrorCode;
  /** HTTP status, or 0 where no response came. */
  readonly status: number;
  /** On `invalid_request`: every field at fault. Otherwise empty. */
  readonly errors: NonNullable<Problem["errors"]>;
  /** The server's id of the request; name it when reporting. */
  readonly requestId: string | null;
  /** How long to wait before another try can succeed; null where the server did not say. */
  readonly retryAfterSeconds: number | null;
  /** The whole answer, with what only some codes carry; null where the server sent none. */
  readonly problem: Problem | null;

  /** The message is the server's public sentence, or the code alone where no server spoke. */
  constructor(code: CompaniondErrorCode, facts: CompaniondErrorFacts = {}) {
    super(facts.message ?? code, "cause" in facts ? { cause: facts.cause } : {});
    this.code = code;
    this.status = facts.status ?? 0;
    this.errors = facts.errors ?? [];
    this.requestId = facts.requestId ?? null;
    this.retryAfterSeconds = facts.retryAfterSeconds ?? null;
    this.problem = facts.problem ?? null;
  }
}

/** What a status means where the body is no problem document: it may come from a proxy. */
const codesByStatus: Readonly<Record<number, ServerErrorCode>> = {
  401: "unauthorized",
  404: "not_found",
  413: "payload_too_large",
  429: "rate_limited",
  503: "unavailable",
};

/** Reads a refused response. Rejects only where its body breaks off. */
export async function readProblem(response: Response): Promise<CompaniondError> {
  const { status, headers } = response;
  const body = parseObject(await response.text());
  const problem = typeof body?.code === "string" ? (body as Problem) : null;
  const code = problem?.code ?? codesByStatus[status] ?? (status >= 500 ? "upstream_error" : "bad_response");
  return new CompaniondError(code, {
    message: problem?.detail ?? `The server answered with status ${status}.`,
    status,
    errors: problem?.errors ?? [],
    requestId: headers.get("x-request-id"),
    retryAfterSeconds: parseRetryAfter(headers.get("retry-after")),
    problem,
  });
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : null;
  } catch {
    return null;
  }
}

/** Seconds, or an HTTP date; null for anything else. */
function parseRetryAfter(value: string | null): number | null {
  if (value === null) return null;
  if (/^\d+$/.test(value)) return Number(value);
  const waitMs = Date.parse(value) - Date.now();
  return Number.isNaN(waitMs) ? null : Math.max(0, Math.ceil(waitMs / 1000));
}

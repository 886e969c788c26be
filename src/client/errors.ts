/** What the client throws: the class of everything that reads replies, with what the management API adds. */
import { CompanionError, type ConnectionErrorCode, type ReplyEndCode } from "../reply-reader/errors.ts";
import type { Problem } from "./generated/wire.ts";

/** Codes that the server sends. */
export type ServerErrorCode = Problem["code"];

export type { ConnectionErrorCode as ClientErrorCode };

export type CompaniondErrorCode = ServerErrorCode | ReplyEndCode | ConnectionErrorCode;

export interface CompaniondErrorFacts {
  message?: string;
  status?: number;
  errors?: NonNullable<Problem["errors"]>;
  requestId?: string | null;
  retryAfterMs?: number | null;
  isCut?: boolean;
  /** The body of the refusal. */
  problem?: Problem | null;
  cause?: unknown;
}

type Shared = Pick<CompanionError, keyof Error | "status" | "requestId" | "retryAfterMs" | "isCut">;
const SharedError = CompanionError as new (code: string, facts: object) => Shared;

export class CompaniondError extends SharedError {
  declare readonly code: CompaniondErrorCode;
  /** On `invalid_request`: every field at fault. Otherwise empty. */
  declare readonly errors: NonNullable<Problem["errors"]>;
  /** How long to wait before another try can succeed; null where the server did not send it. */
  declare readonly retryAfterSeconds: number | null;
  /** The whole answer, with what only some codes carry; null where the server sent none. */
  declare readonly problem: Problem | null;

  /** The message is the server's public sentence, or one of our own where no server spoke. */
  constructor(code: CompaniondErrorCode, facts: CompaniondErrorFacts = {}) {
    const { message = sentences[code] ?? code, retryAfterMs = null, problem = null } = facts;
    super(code, {
      ...{ name: "CompaniondError", errors: problem?.errors ?? [], ...facts, message, retryAfterMs, problem },
      retryAfterSeconds: retryAfterMs === null ? null : Math.ceil(retryAfterMs / 1000),
    });
  }
}

const sentences: Partial<Record<CompaniondErrorCode, string>> = {
  network: "The connection to the server failed.",
  timeout: "The server was silent for too long.",
  incomplete: "The reply ended before it was whole.",
  bad_response: "The answer is not one of this interface.",
} satisfies Partial<Record<ConnectionErrorCode, string>>;

/** What a status means where the body is no problem document: it may come from a proxy. */
const codesByStatus: Readonly<Record<number, ServerErrorCode>> = {
  401: "unauthorized",
  404: "not_found",
  413: "payload_too_large",
  429: "rate_limited",
  503: "unavailable",
};

/** As an error of this client: what reads replies throws the class beneath. Anything else stays what it is. */
export function toCompaniondError(error: unknown): unknown {
  if (!(error instanceof CompanionError) || error instanceof CompaniondError) return error;
  const { status, requestId, retryAfterMs, isCut } = error;
  const problem = Object(error.problem).code === error.code ? (error.problem as Problem) : null;
  const facts = { status, requestId, retryAfterMs, isCut, problem, cause: toCompaniondError(error.cause) };
  if (problem) return new CompaniondError(problem.code, { ...facts, message: error.message });
  if (status === 0 || error.code === "incomplete") return new CompaniondError(error.code as CompaniondErrorCode, facts);
  const code = codesByStatus[status] ?? (status >= 500 ? "upstream_error" : "bad_response");
  return new CompaniondError(code, { ...facts, message: `The server answered with status ${status}.` });
}

/** Why a provider's reply failed or stayed incomplete: private, for the log; only its kind is public. */
import { type FailureKind, ReplyFailure } from "../../domain/reply-failure.ts";
import type { ChargedCall } from "../../domain/usage.ts";
import { ConnectionError } from "../../lib/http/connection.ts";

export interface ProviderFailureOptions {
  /** By default derived from the status, or `malformed` without one. */
  kind?: FailureKind;
  isTransient?: boolean;
  retryAfterMs?: number | null;
  status?: number | null;
  /** What it blames, in the words of the API. */
  param?: string | null;
  code?: string | null;
  charged?: ChargedCall | null;
  /** By default derived from kind and message. */
  isByRequest?: boolean;
  hasAsked?: boolean;
}

/** Of errors with a status that blames the provider: too long for the context, or for what a minute may have in all. */
const aboutLength = /\bcontext[ _](length|window|size)\b|\brequest too large\b/i;

export class ProviderFailure extends ReplyFailure {
  /** Whether the same request may succeed a moment later: no connection, a broken one, 429 or 5xx. */
  readonly isTransient: boolean;
  /** How long the provider asked us to wait; null if it did not specify. */
  readonly retryAfterMs: number | null;
  /** Of the provider's response; null if there was none, or it broke later. */
  readonly status: number | null;
  /** The member of the request that the provider blames, and its code for that; null if it named none. */
  readonly param: string | null;
  readonly code: string | null;
  /** Whether the request's own bound or words bring it about, so that it is no sign of the provider's health. */
  readonly isByRequest: boolean;
  /** Whether the model had begun to ask for tools: it has answered then, and no other is asked. */
  readonly hasAsked: boolean;

  constructor(message: string, options: ProviderFailureOptions = {}) {
    const status = options.status ?? null;
    super(message, options.kind ?? (status === null ? "malformed" : kindOfStatus(status)), options.charged ?? null);
    this.name = "ProviderFailure";
    this.isTransient = options.isTransient ?? false;
    this.retryAfterMs = options.retryAfterMs ?? null;
    this.status = status;
    this.param = options.param ?? null;
    this.code = options.code ?? null;
    this.hasAsked = options.hasAsked ?? false;
    this.isByRequest = options.isByRequest ?? isOfRequests(this);
  }

  /** The same in other words, or of another call. */
  with({ message = this.message, ...changed }: { message?: string; charged?: ChargedCall | null; hasAsked?: boolean }) {
    return new ProviderFailure(message, { ...this, ...changed });
  }
}

function isOfRequests({ kind, message }: ProviderFailure): boolean {
  if (kind === "provider_error" || kind === "rate_limited") return aboutLength.test(message);
  return kind === "no_room" || kind === "filtered";
}

export function isTransientStatus(status: number | null | undefined): boolean {
  return status === 429 || (typeof status === "number" && status >= 500);
}

/** For an error that the provider reports in the middle of a stream. */
export function reported(status: number | null, kind?: FailureKind): ProviderFailureOptions {
  if (status === null) return { kind: kind ?? "provider_error" };
  return { status, isTransient: isTransientStatus(status), ...(kind === undefined ? {} : { kind }) };
}

function kindOfStatus(status: number): FailureKind {
  if (status === 401 || status === 403) return "refused_key";
  if (status === 404) return "unknown_model";
  // Some use 402 when the credit is used up.
  if (status === 429 || status === 402) return "rate_limited";
  return status >= 500 ? "provider_error" : "refused_request";
}

/** The private reason, cleaned for the log. */
export function toProviderFailure(error: unknown, clean: (text: string) => string): ProviderFailure {
  if (error instanceof ProviderFailure) return error.with({ message: clean(error.message) });
  if (error instanceof ConnectionError) {
    return new ProviderFailure(clean(error.message), { kind: "unreachable", isTransient: true });
  }
  const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return new ProviderFailure(clean(reason), { kind: "provider_error" });
}

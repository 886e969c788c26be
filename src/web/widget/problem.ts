/** What a failure means for the visitor: the interface has a sentence by the same code, and another try may help. */
import type { Strings } from "./strings.ts";

export interface Problem {
  code: string;
  /** When another try can succeed, epoch milliseconds; 0 for immediately. */
  retryAt: number;
}

export function toProblem(error: unknown): Problem {
  const { code, retryAfterMs, limit } = Object(error);
  // Money is nothing that a visitor has to do with.
  if (code !== "rate_limited") return { code: /^budget/.test(code) ? "unavailable" : code, retryAt: 0 };
  return { code: limit === "ip" ? "network_limited" : code, retryAt: Date.now() + (retryAfterMs ?? 10_000) };
}

/** Why a reply that had begun ended before its end: the server gives the reason where it is its own doing. */
export function toCut(error: unknown): Problem {
  const { code, cause, isCut } = Object(error);
  return { code: isCut ? "connection_lost" : describeEnd(code, Object(cause).code), retryAt: 0 };
}

function describeEnd(code: string, reason: unknown): string {
  if (reason === "upstream_error") return "reply_failed";
  if (/^(abandoned|too_long|replaced)$/.test(String(reason))) return "incomplete";
  if (typeof reason === "string") return reason;
  return code === "bad_response" ? code : "connection_lost";
}

/** Whether the companion may not be shown here, for now or for good: a retry by the visitor cannot change that. */
export function isRefusal(code = ""): boolean {
  return /^(origin_not_allowed|not_found)$/.test(code);
}

/** Whether trying again can help at all. */
export function canRetry(code: string): boolean {
  return !isRefusal(code) && !/^(quota_exceeded|visitor_unverified)$/.test(code);
}

export function isLimit(code = ""): boolean {
  return /_limited$/.test(code);
}

/** Whether messages can be sent: a limit of page views says nothing of them, which may have one of their own. */
export function allowsChat({ config, problem }: { config: unknown; problem: Problem | null }): boolean {
  return !!(config || problem?.retryAt);
}

export function describe(code: string, strings: Strings): string {
  return (strings as Record<string, string>)[code] ?? strings.failed;
}

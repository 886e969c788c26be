/** Failures as sentences for visitors. */
import { CompanionError, type CompanionErrorCode } from "../sdk/errors.ts";
import type { Strings } from "./strings.ts";

const keys: Partial<Record<CompanionErrorCode, keyof Strings>> = {
  origin_not_allowed: "forbidden",
  not_found: "notFound",
  rate_limited: "busy",
  quota_exceeded: "quota",
  upstream_error: "upstream",
  unavailable: "upstream",
  incomplete: "cut",
  network: "network",
  timeout: "network",
};

export interface Problem {
  code: CompanionErrorCode;
  key: keyof Strings;
  /** When another try can succeed, epoch milliseconds; 0 for at once. */
  retryAt: number;
  /** Whether another try can succeed at all. */
  canRetry: boolean;
}

export function toProblem(error: unknown): Problem {
  const code = error instanceof CompanionError ? error.code : "internal";
  const retryAfterMs = error instanceof CompanionError ? error.retryAfterMs : null;
  return {
    code,
    key: keys[code] ?? "failed",
    retryAt: code === "rate_limited" ? Date.now() + (retryAfterMs ?? 10_000) : 0,
    canRetry: !/^(origin_not_allowed|not_found|quota_exceeded)$/.test(code),
  };
}

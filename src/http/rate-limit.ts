/** What a verdict is to the outside: the `RateLimit` headers (draft-ietf-httpapi-ratelimit-headers), and a 429 with `Retry-After`. */
import { AppError } from "../domain/errors.ts";
import type { RateRule, Verdict } from "../limits/limiter.ts";
import type { HeaderBag } from "./problem.ts";

/** What a rule says of itself never changes. */
const policies = new WeakMap<RateRule, string>();

function policyOf(rule: RateRule): string {
  let policy = policies.get(rule);
  if (policy === undefined) {
    policy = `"${rule.name}";q=${rule.limit};w=${Math.ceil(rule.windowMs / 1000)}`;
    policies.set(rule, policy);
  }
  return policy;
}

/** Sets `RateLimit-Policy` for all `rules` of the door, and `RateLimit` as far as its checks came; both replace earlier ones. */
export function writeRateLimitHeaders(
  headers: HeaderBag,
  rules: readonly RateRule[],
  verdicts: readonly Verdict[],
): void {
  let policy = "";
  for (const rule of rules) policy += policy === "" ? policyOf(rule) : `, ${policyOf(rule)}`;
  let state = "";
  for (const { rule, remaining, resetMs } of verdicts) {
    state += `${state === "" ? "" : ", "}"${rule.name}";r=${remaining};t=${toSeconds(resetMs)}`;
  }
  headers["ratelimit-policy"] = policy;
  headers.ratelimit = state;
}

/** Throws `rate_limited` for a refusal; `reason` is its public sentence. */
export function refuse(verdict: Verdict, reason: string): void {
  if (verdict.isAdmitted) return;
  const seconds = retryAfterSeconds(verdict);
  throw new AppError("rate_limited", `${reason} Try again in ${seconds} second${seconds === 1 ? "" : "s"}.`, {
    retryAfterSeconds: seconds,
  });
}

/** For `Retry-After` after a refusal: whole seconds, at least 1, rounded up so that waiting that long suffices. */
export function retryAfterSeconds(verdict: Verdict): number {
  return toSeconds(verdict.resetMs);
}

function toSeconds(durationMs: number): number {
  return Math.max(1, Math.ceil(durationMs / 1000));
}

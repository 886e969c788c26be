/** The `RateLimit` headers of the IETF draft (draft-ietf-httpapi-ratelimit-headers), and `Retry-After`, from verdicts. */
import type { Verdict } from "../limits/limiter.ts";
import type { HeaderBag } from "./problem.ts";

/** Sets `RateLimit-Policy` and `RateLimit`, one member for each verdict; what an earlier call set is replaced. */
export function writeRateLimitHeaders(headers: HeaderBag, verdicts: readonly Verdict[]): void {
  let policy = "";
  let state = "";
  for (const { rule, remaining, resetMs } of verdicts) {
    const separator = policy === "" ? "" : ", ";
    policy += `${separator}"${rule.name}";q=${rule.limit};w=${Math.ceil(rule.windowMs / 1000)}`;
    state += `${separator}"${rule.name}";r=${remaining};t=${toSeconds(resetMs)}`;
  }
  if (policy === "") return;
  headers["ratelimit-policy"] = policy;
  headers.ratelimit = state;
}

/** For `Retry-After` after a refusal: whole seconds, at least 1, rounded up so that waiting that long suffices. */
export function retryAfterSeconds(verdict: Verdict): number {
  return toSeconds(verdict.resetMs);
}

function toSeconds(durationMs: number): number {
  return Math.max(1, Math.ceil(durationMs / 1000));
}

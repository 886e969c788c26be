/**
 * Checks a client's request with the limiter, and turns the verdict into the `RateLimit` headers
 * (draft-ietf-httpapi-ratelimit-headers) and a 429 with `Retry-After`.
 */
import type { Plan } from "../domain/account.ts";
import { AppError } from "../domain/errors.ts";
import type { Limiter, RateRule, Verdict } from "../limits/limiter.ts";
import { networkRulesOf, type RateRules } from "../limits/rules.ts";
import type { ClientIp } from "./client-ip.ts";
import type { HeaderBag } from "./problem.ts";

/** The limits that each guard announces, in the order of its checks; they never change. Embed routes: by plan. */
type Policies = Readonly<Record<Plan | "key" | "chat" | "session", string>>;

/** Counts a request against its client's address, and an IPv6 client's also against the networks around it. */
export function admitClient(
  limiter: Limiter,
  rule: RateRule,
  { limitSubject, networks }: Pick<ClientIp, "limitSubject" | "networks">,
): Promise<Verdict> {
  if (networks === null) return limiter.admit(rule, limitSubject);
  const [by56, by48] = networkRulesOf(rule);
  return limiter.admitAll([
    { rule, subject: limitSubject },
    { rule: by56, subject: networks[0] },
    { rule: by48, subject: networks[1] },
  ]);
}

const knownPolicies = new WeakMap<RateRules, Policies>();

function policiesOf(rules: RateRules): Policies {
  let policies = knownPolicies.get(rules);
  if (policies === undefined) {
    policies = {
      free: `${toPolicy(rules.ip)}, ${toPolicy(rules.token.free)}`,
      paid: `${toPolicy(rules.ip)}, ${toPolicy(rules.token.paid)}`,
      key: toPolicy(rules.key),
      chat: toPolicy(rules.chat),
      session: toPolicy(rules.session),
    };
    knownPolicies.set(rules, policies);
  }
  return policies;
}

function toPolicy({ name, limit, windowMs }: RateRule): string {
  return `"${name}";q=${limit};w=${Math.ceil(windowMs / 1000)}`;
}

/**
 * Sets `RateLimit-Policy` for all limits of the guard, and `RateLimit` for the checks made so far; both replace earlier
 * ones.
 */
export function writeRateLimitHeaders(
  headers: HeaderBag,
  rules: RateRules,
  dependencies: keyof Policies,
  first: Verdict,
  second?: Verdict,
): void {
  headers["ratelimit-policy"] = policiesOf(rules)[dependencies];
  headers.ratelimit = second === undefined ? toState(first) : `${toState(first)}, ${toState(second)}`;
}

/** Adds a limit that not every request of the guard has. */
export function addRateLimitHeaders(headers: HeaderBag, verdict: Verdict): void {
  headers["ratelimit-policy"] = `${headers["ratelimit-policy"]}, ${toPolicy(verdict.rule)}`;
  headers.ratelimit = `${headers.ratelimit}, ${toState(verdict)}`;
}

function toState({ rule, remaining, resetMs }: Verdict): string {
  return `"${rule.name}";r=${remaining};t=${toSeconds(resetMs)}`;
}

/** Throws `rate_limited` for a refusal; `reason` is its public sentence. */
export function refuse(verdict: Verdict, reason: string): void {
  if (verdict.isAdmitted) return;
  const seconds = retryAfterSeconds(verdict);
  throw new AppError("rate_limited", `${reason} Try again in ${seconds} second${seconds === 1 ? "" : "s"}.`, {
    retryAfterSeconds: seconds,
  });
}

/** For `Retry-After`: whole seconds, at least 1, rounded up so that waiting that long suffices. */
export function retryAfterSeconds(verdict: Verdict): number {
  return toSeconds(verdict.resetMs);
}

function toSeconds(durationMs: number): number {
  return Math.max(1, Math.ceil(durationMs / 1000));
}

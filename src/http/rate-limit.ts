/**
 * Checks a client's request with the limiter, and turns the verdict into the `RateLimit` headers
 * (draft-ietf-httpapi-ratelimit-headers) and a 429 with `Retry-After`.
 */
import type { Limiter, RateRule, RateWindow, RuleName, Verdict } from "../contracts/limiter/limiter.ts";
import { type EmbedWindows, networkRulesOf } from "../contracts/limiter/rules.ts";
import type { EmbedTarget } from "../contracts/store/store.ts";
import type { Services } from "../core/dependencies.ts";
import type { Plan } from "../domain/account.ts";
import { isEmbedToken } from "../domain/credentials.ts";
import { AppError } from "../domain/errors.ts";
import type { ClientIp } from "./client-ip.ts";
import type { HeaderBag } from "./problem.ts";

type LimitedClient = Pick<ClientIp, "limitSubject" | "networks">;

/** Counts a request against its client's address, and an IPv6 client's also against the networks around it. */
export function admitClient(limiter: Limiter, rule: RateRule, client: LimitedClient): Promise<Verdict> {
  if (client.networks === null) return limiter.admit(rule, client.limitSubject);
  return limiter.admitAll(windowsOfClient(rule, client));
}

/** What an embed request begins with. */
export interface Opening {
  readonly byIp: Verdict;
  /** Null if the token does not work. Call it only if `byIp` admits the request. */
  findTarget(): Promise<EmbedTarget | null>;
  /** The token's window by this rule; takes a slot. */
  admitToken(rule: RateRule): Promise<Verdict>;
}

/** Where windows are counted in this process: one check after the other. */
export async function openHere(
  { limiter, store }: Pick<Services, "limiter" | "store">,
  token: string,
  client: LimitedClient,
  { ip }: EmbedWindows,
): Promise<Opening> {
  return {
    byIp: await admitClient(limiter, ip, client),
    findTarget: () => findTargetOf(store, token),
    admitToken: (rule) => limiter.admit(rule, token),
  };
}

/** Checks the format before any lookup: a path may contain anything. */
export async function findTargetOf({ companions }: Services["store"], token: string): Promise<EmbedTarget | null> {
  return isEmbedToken(token) ? await companions.findByEmbedToken(token) : null;
}

/** The windows that `admitClient` asks. */
export function windowsOfClient(
  rule: RateRule,
  { limitSubject, networks }: LimitedClient,
): [RateWindow, ...RateWindow[]] {
  const own = { rule, subject: limitSubject };
  if (networks === null) return [own];
  const [by56, by48] = networkRulesOf(rule);
  return [own, { rule: by56, subject: networks[0] }, { rule: by48, subject: networks[1] }];
}

/** Policies never change: an embed route's by its last window, which is that of the token. */
const knownPolicies = new WeakMap<RateRule, string>();

/** The limits of an embed route for `RateLimit-Policy`, in the order of its checks. */
export function embedPolicyOf({ ip, token }: EmbedWindows, plan: Plan): string {
  return policyOf(token[plan], ip);
}

/** The same for a guard of one window, after an embed route's first. */
export function policyOf(rule: RateRule, before?: RateRule): string {
  let policy = knownPolicies.get(rule);
  if (policy === undefined) {
    policy = before === undefined ? toPolicy(rule) : `${toPolicy(before)}, ${toPolicy(rule)}`;
    knownPolicies.set(rule, policy);
  }
  return policy;
}

function toPolicy({ name, limit, windowMs }: RateRule): string {
  return `"${announce(name)}";q=${limit};w=${Math.ceil(windowMs / 1000)}`;
}

/** Clients know two windows by name, no matter which a request counts in. */
function announce(name: RuleName): string {
  return name === "config_ip" ? "ip" : name === "config_token" ? "token" : name;
}

/**
 * Sets `RateLimit-Policy` to all limits of the guard, and `RateLimit` to the checks made so far; both replace earlier
 * ones.
 */
export function writeRateLimitHeaders(headers: HeaderBag, policy: string, first: Verdict, second?: Verdict): void {
  headers["ratelimit-policy"] = policy;
  headers.ratelimit = second === undefined ? toState(first) : `${toState(first)}, ${toState(second)}`;
}

/** Adds a limit that not every request of the guard has. */
export function addRateLimitHeaders(headers: HeaderBag, verdict: Verdict): void {
  headers["ratelimit-policy"] = `${headers["ratelimit-policy"]}, ${toPolicy(verdict.rule)}`;
  headers.ratelimit = `${headers.ratelimit}, ${toState(verdict)}`;
}

function toState({ rule, remaining, resetMs }: Verdict): string {
  return `"${announce(rule.name)}";r=${remaining};t=${toSeconds(resetMs)}`;
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

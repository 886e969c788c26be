/**
 * The guard of embed routes: client address, embed token, origin, visitor, proof of work and token limit, in the order
 * fixed by the contract.
 */
import type { Verdict } from "../contracts/limiter/limiter.ts";
import type { CompanionStore, EmbedTarget } from "../contracts/store/store.ts";
import type { Services } from "../core/dependencies.ts";
import type { TurnRight } from "../core/turns/turn-start.ts";
import type { RepeatableUse, Solution, VerifiedVisitor } from "../core/visitors/visitors.ts";
import type { Plan } from "../domain/account.ts";
import type { Companion } from "../domain/companion.ts";
import { AppError } from "../domain/errors.ts";
import { isOriginAllowed } from "../domain/origin.ts";
import { unverified } from "../domain/visitor.ts";
import { isOwnPage } from "./base-url.ts";
import { clientOf } from "./client.ts";
import { type Expected, openWindows } from "./embed-windows.ts";
import type { HeaderBag } from "./problem.ts";
import { admitClient, embedPolicyOf, openHere, policyOf, refuse, writeRateLimitHeaders } from "./rate-limit.ts";

export type EmbedDependencies = Pick<
  Services,
  | "settings"
  | "store"
  | "limiter"
  | "rules"
  | "clock"
  | "ids"
  | "log"
  | "uses"
  | "visitors"
  | "challenges"
  | "measurements"
>;

export interface Embedded {
  readonly target: EmbedTarget;
  /** Null unless the companion asks who its visitors are, and the request has a good token. */
  readonly visitor: VerifiedVisitor | null;
  /** Null unless the companion asks this visitor for a proof of work now. */
  readonly work: Work | null;
}

/** A solved challenge, which the request has. */
export interface Work {
  /**
   * As `Challenges.spend`: called when something is about to begin that costs money. Also takes a slot of the token where
   * the request has none; rejects with `challenge_required` if there is none left.
   */
  spend(use: RepeatableUse | null): Promise<void>;
}

/** What a route asks of visitors. */
export interface Asked {
  readonly visitors: AskedVisitors;
  /**
   * A page view reads the configuration, and may have windows of its own. What spends begins something that costs money,
   * for which companions may ask a proof of work. What listens, or rates, counts by address alone. All else reads.
   */
  readonly use: "page view" | "live" | "reading" | "spending";
}

export const pageView: Asked = { visitors: "nobody", use: "page view" };

/** Who must show who they are: no one, so that nothing is checked; those whom the companion asks; or everyone. */
export type AskedVisitors = "nobody" | "as the companion does" | "everyone";

/**
 * Admits an embed request, or throws: per-IP limit 429, token 404, origin 403, visitor 401, proof of work 403, per-token
 * limit 429. Writes the rate-limit headers of the checks that were made.
 */
export async function openEmbed(
  dependencies: EmbedDependencies,
  request: Request,
  token: string,
  headers: HeaderBag,
  asks: Asked,
): Promise<Embedded> {
  const { limiter, rules, measurements, clock } = dependencies;
  const [isPageView, isLive] = [asks.use === "page view", asks.use === "live"];
  const windows = isLive ? { ...rules, ip: rules.live } : isPageView ? rules.config : rules;
  const policyFor = (plan: Plan) => (isLive ? policyOf(rules.live) : embedPolicyOf(windows, plan));
  const client = clientOf(dependencies, request);
  const mayTake = ({ allowedOrigins, visitorAuth }: Expected) =>
    !isLive &&
    asks.visitors !== "everyone" &&
    (visitorAuth === "off" || asks.visitors === "nobody") &&
    mayEmbed(dependencies, request, allowedOrigins);
  const { byIp, findTarget, admitToken } = limiter.isRemote
    ? await openWindows(dependencies, token, client, windows, mayTake)
    : await openHere(dependencies, token, client, windows);
  if (!byIp.isAdmitted) {
    // The plan is unknown before the token is known.
    writeRateLimitHeaders(headers, policyFor("free"), byIp);
    if (isPageView) measurements.refusedConfigs.note("ip", clock.nowMs());
  }
  refuse(byIp, "This address has sent too many requests.");

  const target = await findTarget();
  if (target === null) {
    writeRateLimitHeaders(headers, policyFor("free"), byIp);
    // The wider window is no help to those who try tokens.
    if (isLive) refuse(await admitClient(limiter, rules.ip, client), "This address has sent too many requests.");
    throw noCompanion();
  }
  const { plan, companion, tokenId } = target;
  const policy = policyFor(plan);
  if (!mayEmbed(dependencies, request, companion.allowedOrigins)) {
    writeRateLimitHeaders(headers, policy, byIp);
    throw new AppError("origin_not_allowed", "This companion may not be used from this website.");
  }

  let visitor: VerifiedVisitor | null = null;
  if (asks.visitors === "everyone" || (companion.visitorAuth !== "off" && asks.visitors !== "nobody")) {
    // Written first: the headers of a refusal, which anything below may be.
    writeRateLimitHeaders(headers, policy, byIp);
    visitor = await openVisitor(dependencies, request, companion, asks.visitors);
  }

  if (isLive) {
    writeRateLimitHeaders(headers, policy, byIp);
    dependencies.uses.noteToken(tokenId);
    return { target, visitor, work: null };
  }
  const tokenRule = windows.token[plan];
  let taken: Taken | null = null;
  // Page views that have windows of their own take no visitor's slot; a known visitor need not work.
  if (companion.challenge !== "off" && tokenRule === rules.token[plan] && !(asks.use === "spending" && visitor)) {
    writeRateLimitHeaders(headers, policy, byIp);
    const write = (byToken: Verdict) => writeRateLimitHeaders(headers, policy, byIp, byToken);
    taken = await takeGuarded(dependencies, request, token, target, asks, write);
  }
  const byToken = taken?.byToken ?? (await admitToken(tokenRule));
  const verdict = taken?.byRead ?? byToken;
  writeRateLimitHeaders(headers, policy, byIp, byToken);
  if (isPageView && !verdict.isAdmitted) {
    measurements.refusedConfigs.note(taken?.byRead ? "read" : "token", clock.nowMs());
  }
  refuse(verdict, "This companion has had too many requests.");
  const origin = isPageView ? request.headers.get("origin") : null;
  if (origin !== null && !isOwnPage(dependencies, request, origin)) {
    dependencies.uses.noteSeen(tokenId, companion.id, origin);
  }
  dependencies.uses.noteToken(tokenId);
  return { target, visitor, work: taken?.work ?? null };
}

/** The slot of a request, in the window of the token or beside it. */
interface Taken {
  readonly byToken: Verdict;
  /** Of the second window, which then decides; no header shows it. */
  readonly byRead: Verdict | null;
  readonly work: Work | null;
}

/**
 * For a companion that may ask for work. While it does, only who has worked takes a slot in the token's window: a flood
 * without work must not take those of visitors. Throws `challenge_required` where work is missing.
 */
async function takeGuarded(
  dependencies: EmbedDependencies,
  request: Request,
  token: string,
  { companion, plan }: EmbedTarget,
  { use }: Asked,
  write: (byToken: Verdict) => void,
): Promise<Taken> {
  const { limiter, rules, challenges } = dependencies;
  const rule = rules.token[plan];
  const isAlways = companion.challenge === "always";
  if (!isAlways || use !== "spending") {
    // In one step: of a burst, all would see the window as it was before the first of them.
    const byToken = await limiter.admitUpTo(rule, token, isAlways ? 0 : Math.floor(rule.limit / 2) + 1);
    if (byToken.isAdmitted) return { byToken, byRead: null, work: null };
    if (use !== "spending") return { byToken, byRead: await limiter.admit(rules.read[plan], token), work: null };
  }
  const { solution, isFirst } = await openSolution(dependencies, request, companion);
  const work: Work = {
    async spend(repeatable) {
      await challenges.spend(companion.id, solution, repeatable);
      if (isFirst) return;
      const byToken = await limiter.admit(rule, token);
      write(byToken);
      // Others have taken the last slot meanwhile. Taken before, it would be lost to each of many who send one solution.
      if (!byToken.isAdmitted) throw await challenges.refusal(companion.id);
    },
  };
  if (isFirst) return { byToken: await limiter.admit(rule, token), byRead: null, work };
  // Worked once for one slot: what is refused again and again takes no more of those that others need.
  const seen = await limiter.admitUpTo(rule, token, 0);
  return { byToken: { ...seen, isAdmitted: seen.remaining > 0 }, byRead: null, work };
}

/** The request's solution, and whether it comes for the first time. */
async function openSolution(
  { limiter, rules, challenges }: EmbedDependencies,
  request: Request,
  { id }: Companion,
): Promise<{ solution: Solution; isFirst: boolean }> {
  const solution = await challenges.open(id, request.headers.get("x-challenge") ?? "");
  if (solution === null || (await challenges.isUsedUp(solution))) throw await challenges.refusal(id);
  const { isAdmitted, remaining } = await limiter.admit(rules.solution, solution.signature);
  if (!isAdmitted) throw await challenges.refusal(id);
  return { solution, isFirst: remaining === rules.solution.limit - 1 };
}

/** The visitor of the request's token; null if it has none and needs none. */
async function openVisitor(
  { visitors }: EmbedDependencies,
  request: Request,
  companion: Companion,
  asks: AskedVisitors,
): Promise<VerifiedVisitor | null> {
  const token = companion.visitorAuth === "off" ? null : request.headers.get("x-visitor-token");
  // Frameworks send an empty header where there is no token.
  if (token !== null && token !== "") return await visitors.verify(companion, token);
  if (asks === "everyone" || companion.visitorAuth === "required") throw unverified();
  return null;
}

/** The same for every token that does not work, for any reason. */
export function noCompanion(): AppError {
  return new AppError("not_found", "The embed token is unknown or revoked, or its companion is paused.");
}

/** A class, not closures, which would keep the request alive as long. */
export class RightOfToken implements TurnRight {
  readonly #companions: CompanionStore;
  readonly #token: string;

  constructor(companions: CompanionStore, token: string) {
    this.#companions = companions;
    this.#token = token;
  }

  check(): ReturnType<TurnRight["check"]> {
    return this.#companions.checkEmbedToken(this.#token);
  }

  refusal(): AppError {
    return noCompanion();
  }
}

/** Whether the requesting page is in the list, or is our own. An empty list allows every page. */
function mayEmbed(dependencies: EmbedDependencies, request: Request, allowedOrigins: readonly string[]): boolean {
  if (allowedOrigins.length === 0) return true;
  const origin = request.headers.get("origin");
  return (origin !== null && isOriginAllowed(origin, allowedOrigins)) || isOwnPage(dependencies, request, origin);
}

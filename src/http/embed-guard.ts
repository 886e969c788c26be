/**
 * The guard of embed routes: client address, embed token, origin, visitor, proof of work and token limit, in the order
 * fixed by the contract.
 */

import type { Services } from "../dependencies.ts";
import type { Companion } from "../domain/companion.ts";
import { isEmbedToken } from "../domain/credentials.ts";
import { AppError } from "../domain/errors.ts";
import { isOriginAllowed } from "../domain/origin.ts";
import { unverified } from "../domain/visitor.ts";
import type { Place, Verdict } from "../limits/limiter.ts";
import type { CompanionStore, EmbedTarget } from "../store/store.ts";
import type { TurnRight } from "../turns/turn-start.ts";
import type { RepeatableUse } from "../visitors/challenges.ts";
import type { VerifiedVisitor } from "../visitors/visitors.ts";
import { knownBaseUrlOf } from "./base-url.ts";
import { clientOf } from "./client.ts";
import type { HeaderBag } from "./problem.ts";
import { admitClient, refuse, writeRateLimitHeaders } from "./rate-limit.ts";

export type EmbedDependencies = Pick<
  Services,
  "settings" | "store" | "limiter" | "rules" | "ids" | "log" | "uses" | "visitors" | "challenges"
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
  /** As `Challenges.spend`: called when something is about to begin that costs money. */
  spend(use: RepeatableUse | null): Promise<void>;
}

/** What a route asks of visitors. */
export interface Asked {
  readonly visitors: AskedVisitors;
  /** Whether it begins something that costs money, for which companions may ask a proof of work. */
  readonly work: boolean;
}

/** Who must show who they are: nobody, so that nothing is looked at; whoever the companion asks; or everyone. */
export type AskedVisitors = "nobody" | "as the companion does" | "everyone";

/**
 * Admits an embed request, or throws: per-IP limit 429, token 404, origin 403, visitor 401, proof of work 403, per-token
 * limit 429.
 * Writes the rate-limit headers of the checks that were made.
 */
export async function openEmbed(
  dependencies: EmbedDependencies,
  request: Request,
  token: string,
  headers: HeaderBag,
  asks: Asked,
): Promise<Embedded> {
  const { rules } = dependencies;
  const byIp = await admitClient(dependencies.limiter, rules.ip, clientOf(dependencies, request));
  // The plan is unknown before the token is known.
  if (!byIp.isAdmitted) writeRateLimitHeaders(headers, rules, "free", byIp);
  refuse(byIp, "This address has sent too many requests.");

  // Check the format before any lookup: a path may contain anything.
  const target = isEmbedToken(token) ? await dependencies.store.companions.findByEmbedToken(token) : null;
  if (target === null) {
    writeRateLimitHeaders(headers, rules, "free", byIp);
    throw noCompanion();
  }
  const { plan, companion, tokenId } = target;
  if (!mayEmbed(dependencies, request, companion.allowedOrigins)) {
    writeRateLimitHeaders(headers, rules, plan, byIp);
    throw new AppError("origin_not_allowed", "This companion may not be used from this website.");
  }

  let visitor: VerifiedVisitor | null = null;
  if (asks.visitors === "everyone" || (companion.visitorAuth !== "off" && asks.visitors !== "nobody")) {
    // Written first: the headers of a refusal, which anything below may be.
    writeRateLimitHeaders(headers, rules, plan, byIp);
    visitor = await openVisitor(dependencies, request, companion, asks.visitors);
  }

  const tokenRule = rules.token[plan];
  let work: Work | null = null;
  if (asks.work && visitor === null && companion.challenge !== "off") {
    writeRateLimitHeaders(headers, rules, plan, byIp);
    // Before the token's limit: a flood without work must not take the places of visitors.
    work = await openWork(dependencies, request, companion, { rule: tokenRule, subject: token });
  }

  const byToken = await dependencies.limiter.admit(tokenRule, token);
  writeRateLimitHeaders(headers, rules, plan, byIp, byToken);
  refuse(byToken, "This companion has had too many requests.");
  dependencies.uses.noteToken(tokenId);
  return { target, visitor, work };
}

/** Null if the companion does not ask for work now; throws `challenge_required` if it does and there is none. */
async function openWork(
  { limiter, rules, challenges }: EmbedDependencies,
  request: Request,
  { id, challenge }: Companion,
  place: Place,
): Promise<Work | null> {
  if (challenge === "auto" && !isOverHalf(await limiter.look(place.rule, place.subject))) return null;
  const solution = await challenges.open(id, request.headers.get("x-challenge") ?? "");
  const mayPass =
    solution !== null &&
    !(await challenges.isUsedUp(solution)) &&
    (await limiter.admit(rules.solution, solution.signature)).isAdmitted;
  if (!mayPass) throw await challenges.refusal(id);
  return { spend: (use) => challenges.spend(id, solution, use) };
}

/** Whether more than half of the places are taken, without the one that was looked for. */
function isOverHalf({ isAdmitted, rule, remaining }: Verdict): boolean {
  return !isAdmitted || rule.limit - remaining - 1 > rule.limit / 2;
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

/** The same for every token that does not work, whatever the reason. */
export function noCompanion(): AppError {
  return new AppError("not_found", "There is no companion behind this embed token.");
}

/** The right of a request to go on. A separate function, so that it does not keep the request alive as long. */
export function rightOfToken(companions: CompanionStore, token: string): TurnRight {
  return { check: () => companions.checkEmbedToken(token), refusal: noCompanion };
}

/** Whether the requesting page is in the list, or is our own. An empty list allows every page. */
function mayEmbed(dependencies: EmbedDependencies, request: Request, allowedOrigins: readonly string[]): boolean {
  if (allowedOrigins.length === 0) return true;
  const origin = request.headers.get("origin");
  return (origin !== null && isOriginAllowed(origin, allowedOrigins)) || isOwnPage(dependencies, request, origin);
}

/** If our own address is unknown, no page is ours: the client may have sent any host. */
function isOwnPage({ settings }: EmbedDependencies, request: Request, origin: string | null): boolean {
  const own = knownBaseUrlOf(settings, request);
  if (own === null) return false;
  if (origin === null) return request.headers.get("sec-fetch-site") === "same-origin";
  if (settings.publicUrl !== null) return origin === own || settings.otherUrls.includes(origin);
  // On this machine, TLS may end before us.
  return hostOf(origin) === hostOf(own);
}

/** Including the port. */
function hostOf(origin: string): string {
  return origin.slice(origin.indexOf("://") + 3);
}

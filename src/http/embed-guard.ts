/** The public door: client address, embed token, origin and token limit, in the order that the contract fixes. */

import type { Services } from "../dependencies.ts";
import type { Plan } from "../domain/account.ts";
import { isEmbedToken } from "../domain/credentials.ts";
import { AppError } from "../domain/errors.ts";
import { isOriginAllowed } from "../domain/origin.ts";
import { type Awaitable, andThen } from "../lib/awaitable.ts";
import type { Verdict } from "../limits/limiter.ts";
import type { EmbedTarget } from "../store/store.ts";
import { knownBaseUrlOf } from "./base-url.ts";
import { clientOf } from "./client.ts";
import type { HeaderBag } from "./problem.ts";
import { admitClient, refuse, writeRateLimitHeaders } from "./rate-limit.ts";

export type EmbedDoor = Pick<Services, "settings" | "store" | "limiter" | "rules" | "ids" | "log" | "uses">;

/**
 * Lets an embed request through, or throws: per-IP limit 429, token 404, origin 403, per-token limit 429.
 * Writes the rate-limit headers as far as the checks came. Nothing is put off that can be answered at once.
 */
export function openEmbed(
  door: EmbedDoor,
  request: Request,
  token: string,
  headers: HeaderBag,
): Awaitable<EmbedTarget> {
  const { rules } = door;
  // While the token is unknown, the plan is too.
  let plan: Plan = "free";
  const tell = (byIp: Verdict, byToken?: Verdict) => writeRateLimitHeaders(headers, rules, plan, byIp, byToken);

  function checkToken(byIp: Verdict): Awaitable<EmbedTarget> {
    if (!byIp.isAdmitted) tell(byIp);
    refuse(byIp, "This address has sent too many requests.");
    // The shape is checked before any lookup: a path may carry anything.
    const found = isEmbedToken(token) ? door.store.companions.findByEmbedToken(token) : null;
    return andThen(found, (target) => checkTarget(byIp, target));
  }

  function checkTarget(byIp: Verdict, target: EmbedTarget | null): Awaitable<EmbedTarget> {
    if (target === null) {
      tell(byIp);
      throw noCompanion();
    }
    plan = target.plan;
    if (!mayEmbed(door, request, target.companion.allowedOrigins)) {
      tell(byIp);
      throw new AppError("origin_not_allowed", "This companion may not be used from this website.");
    }
    return andThen(door.limiter.admit(rules.token[plan], token), (byToken) => {
      tell(byIp, byToken);
      refuse(byToken, "This companion has had too many requests.");
      door.uses.noteToken(target.tokenId);
      return target;
    });
  }

  return andThen(admitClient(door.limiter, rules.ip, clientOf(door, request)), checkToken);
}

/** The same for every token that opens nothing, whatever the reason. */
export function noCompanion(): AppError {
  return new AppError("not_found", "There is no companion behind this embed token.");
}

/** Whether the page that asks is in the list, or is one of our own. An empty list allows every page. */
function mayEmbed(door: EmbedDoor, request: Request, allowedOrigins: readonly string[]): boolean {
  if (allowedOrigins.length === 0) return true;
  const origin = request.headers.get("origin");
  return (origin !== null && isOriginAllowed(origin, allowedOrigins)) || isOwnPage(door, request, origin);
}

/** Where our own address is not known, no page is ours: whoever asks may have named any host. */
function isOwnPage({ settings }: EmbedDoor, request: Request, origin: string | null): boolean {
  const own = knownBaseUrlOf(settings, request);
  if (own === null) return false;
  if (origin === null) return request.headers.get("sec-fetch-site") === "same-origin";
  if (settings.publicUrl !== null) return origin === own;
  // On this machine, TLS may end before us.
  return hostOf(origin) === hostOf(own);
}

/** With its port. */
function hostOf(origin: string): string {
  return origin.slice(origin.indexOf("://") + 3);
}

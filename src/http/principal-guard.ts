/** The private door: an API key or the dashboard's cookie becomes a principal, within its limit and what it may do. */

import type { Services } from "../dependencies.ts";
import { insufficientScope, type KeyPrincipal } from "../domain/account.ts";
import { isApiKey } from "../domain/credentials.ts";
import { AppError } from "../domain/errors.ts";
import { lacksTotp } from "../domain/second-factor.ts";
import { sha256 } from "../lib/sha256.ts";
import type { Access } from "./api-description.ts";
import type { HeaderBag } from "./problem.ts";
import { refuse, writeRateLimitHeaders } from "./rate-limit.ts";
import { findSessionPrincipal, type OpenedSession } from "./session-cookie.ts";

type PrincipalDoor = Pick<Services, "settings" | "store" | "limiter" | "rules" | "clock" | "ids" | "log" | "uses">;

/**
 * Lets a management request through, or throws: 401, the limit of the key or session 429, 403 without the scope, or where
 * an API key asks for what belongs to the dashboard or its operators. `maySetUp` opens to an account that has yet to set
 * up the second factor it must have. Writes the rate-limit headers.
 *
 * The limit comes before the scope, so that a key cannot try scopes faster than anything else.
 */
export async function openPrincipal(
  door: PrincipalDoor,
  request: Request,
  access: Exclude<Access, "public" | "embed">,
  headers: HeaderBag,
  { maySetUp = false } = {},
): Promise<KeyPrincipal | OpenedSession> {
  headers["cache-control"] = "no-store";
  const authorization = request.headers.get("authorization");
  // Whoever sends the header means it: a wrong key is never made good by a cookie that came along.
  const principal =
    authorization === null
      ? await findSessionPrincipal(door, request)
      : await findKeyPrincipal(door, /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? "");
  if (principal === null) throw unauthorized();

  if (principal.keyId === null) {
    const verdict = await door.limiter.admit(door.rules.session, principal.sessionId);
    writeRateLimitHeaders(headers, door.rules, "session", verdict);
    refuse(verdict, "The dashboard has made too many requests.");
    if (!maySetUp && lacksTotp(door.settings.requireTotp, principal.account)) {
      throw totpRequired("The operator asks for a second factor. Set it up in the dashboard, then go on.");
    }
  } else {
    const verdict = await door.limiter.admit(door.rules.key, principal.keyId);
    writeRateLimitHeaders(headers, door.rules, "key", verdict);
    refuse(verdict, "This API key has made too many requests.");
    door.uses.noteKey(principal.keyId);
  }
  if (access !== "session" && access !== "operator") {
    if (!principal.scopes.includes(access)) throw insufficientScope([access]);
  } else if (principal.sessionId === null) {
    throw new AppError("insufficient_scope", "This belongs to the dashboard: sign in. No API key may do it.");
  } else if (access === "operator" && principal.account.role !== "operator") {
    throw new AppError("insufficient_scope", "Only an operator may do this.");
  }
  return principal;
}

/** One indexed lookup, never cached: a key that was revoked a moment ago is refused. */
async function findKeyPrincipal(door: PrincipalDoor, key: string): Promise<KeyPrincipal | null> {
  const found = isApiKey(key) ? await door.store.apiKeys.findByHash(sha256(key)) : null;
  if (found === null || found.suspendedAt !== null) return null;
  const { keyId, scopes, expiresAt, account } = found;
  if (expiresAt !== null && expiresAt <= door.clock.nowMs()) return null;
  return { account, scopes, keyId, expiresAt, sessionId: null };
}

/** 401, as the same sign-in goes on once the second factor is there. */
export function totpRequired(publicSentence: string): AppError {
  return new AppError("totp_required", publicSentence, { headers: { "www-authenticate": "Bearer" } });
}

function unauthorized(): AppError {
  return new AppError(
    "unauthorized",
    "Send a valid API key (Authorization: Bearer cmp_live_…), or sign in to the dashboard.",
    {
      headers: { "www-authenticate": "Bearer" },
    },
  );
}

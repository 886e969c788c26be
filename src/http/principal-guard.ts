/** The guard of management routes: turns an API key or the dashboard's cookie into a principal with access. */

import type { WriteContext } from "../contracts/store/store.ts";
import type { Services } from "../core/dependencies.ts";
import { insufficientScope, type KeyPrincipal, type Principal } from "../domain/account.ts";
import { isApiKey } from "../domain/credentials.ts";
import { AppError } from "../domain/errors.ts";
import { actingMember } from "../domain/member.ts";
import { lacksTotp } from "../domain/second-factor.ts";
import { sha256 } from "../lib/sha256.ts";
import type { Access, EmbedAccess } from "./api-description.ts";
import { readChangeNote } from "./change-note.ts";
import { clientOf } from "./client.ts";
import type { HeaderBag } from "./problem.ts";
import { policyOf, refuse, writeRateLimitHeaders } from "./rate-limit.ts";
import { contextOf } from "./request-context.ts";
import { findSessionPrincipal, type OpenedSession } from "./session-cookie.ts";

type PrincipalDependencies = Pick<
  Services,
  "settings" | "store" | "limiter" | "rules" | "clock" | "ids" | "log" | "uses"
>;

/**
 * Admits a management request, or throws: 401, the limit of the key or session 429, 403 without the scope, or if an API
 * key asks for what only the dashboard or its operators may do. `maySetUp` also admits an account that still has to set
 * up a required second factor. Writes the rate-limit headers.
 *
 * The limit comes before the scope, so that a key cannot probe scopes without limit.
 */
export async function openPrincipal(
  dependencies: PrincipalDependencies,
  request: Request,
  access: Exclude<Access, "public" | EmbedAccess>,
  headers: HeaderBag,
  { maySetUp = false } = {},
): Promise<KeyPrincipal | OpenedSession> {
  headers["cache-control"] = "no-store";
  const authorization = request.headers.get("authorization");
  // A client that sends the header means it: a cookie never makes up for a wrong key.
  const principal =
    authorization === null
      ? await findSessionPrincipal(dependencies, request)
      : await findKeyPrincipal(dependencies, /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? "");
  if (principal === null) throw unauthorized();

  if (principal.keyId === null) {
    const verdict = await dependencies.limiter.admit(dependencies.rules.session, principal.sessionId);
    writeRateLimitHeaders(headers, policyOf(verdict.rule), verdict);
    refuse(verdict, "The dashboard has made too many requests.");
    if (!maySetUp && lacksTotp(dependencies.settings.requireTotp, principal.account)) {
      throw totpRequired("The operator asks for a second factor. Set it up in the dashboard, then go on.");
    }
  } else {
    // Chats have a window of their own: visitors must not keep their platform from managing.
    const window = access === "chat:write" ? "chat" : "key";
    const verdict = await dependencies.limiter.admit(dependencies.rules[window], principal.keyId);
    writeRateLimitHeaders(headers, policyOf(verdict.rule), verdict);
    refuse(verdict, "This API key has made too many requests.");
    if (window === "chat") dependencies.uses.noteKeyUse(principal.keyId);
    else dependencies.uses.noteKey(principal.keyId);
  }
  requireAccess(principal, access);
  return principal;
}

function requireAccess(principal: KeyPrincipal | OpenedSession, access: Exclude<Access, "public" | EmbedAccess>): void {
  if (access === "principal") return;
  if (access === "chat:write" && principal.keyId === null) {
    throw new AppError("insufficient_scope", "Chats by API key need one. In the dashboard, try the companion there.");
  }
  if (access !== "session" && access !== "owner" && access !== "operator") {
    if (!principal.scopes.includes(access)) throw insufficientScope([access], principal);
  } else if (principal.sessionId === null) {
    throw new AppError("insufficient_scope", "This belongs to the dashboard: sign in. API keys cannot do it.");
  } else if (access === "operator" && principal.account.role !== "operator") {
    throw new AppError("insufficient_scope", "Only an operator may do this.");
  } else if (access === "owner" && principal.member?.role === "responder") {
    throw new AppError("insufficient_scope", "Only an owner of the account may do this.");
  }
}

/** One indexed lookup, never cached: a key that was just revoked is refused. */
async function findKeyPrincipal(dependencies: PrincipalDependencies, key: string): Promise<KeyPrincipal | null> {
  const found = isApiKey(key) ? await dependencies.store.apiKeys.findByHash(sha256(key)) : null;
  if (found === null || found.suspendedAt !== null) return null;
  const { keyId, scopes, expiresAt, account, hasWebhooks } = found;
  if (expiresAt !== null && expiresAt <= dependencies.clock.nowMs()) return null;
  return { account, scopes, keyId, expiresAt, sessionId: null, hasWebhooks };
}

/** 401, because the same sign-in succeeds once the second factor is sent. */
export function totpRequired(publicSentence: string): AppError {
  return new AppError("totp_required", publicSentence, { headers: { "www-authenticate": "Bearer" } });
}

export function unauthorized(): AppError {
  const sentence = "Send a valid API key (Authorization: Bearer cmp_live_…), or sign in to the dashboard.";
  return new AppError("unauthorized", sentence, { headers: { "www-authenticate": "Bearer" } });
}

/** The context of a principal's writes: who makes the change, and from where. */
export function writeContext(
  services: Pick<Services, "settings" | "clock" | "ids" | "log">,
  request: Request,
  principal: Principal,
): WriteContext {
  return {
    actor: {
      kind: principal.keyId === null ? "session" : "key",
      id: principal.keyId ?? principal.sessionId,
      ipPrefix: clientOf(services, request).logPrefix,
      requestId: contextOf(request, services.ids).requestId,
      ...(principal.keyId === null ? { accountId: principal.account.id, ...actingMember(principal) } : {}),
    },
    nowMs: services.clock.nowMs(),
    auditId: services.ids.uuid(),
    holdings: services.settings.holdings,
    change: {
      via: principal.keyId === null ? "dashboard" : "api",
      note: readChangeNote(request),
      actorName: principal.keyId === null ? principal.account.email : null,
    },
    // The dashboard changes little.
    ...(principal.keyId === null ? {} : { hasWebhooks: principal.hasWebhooks }),
  };
}

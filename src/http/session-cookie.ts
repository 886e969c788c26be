/**
 * The dashboard's cookie (its name and flags, and the principal it stands for), and the check that no other site uses
 * it.
 */
import type { Session } from "../contracts/store/store.ts";
import type { Services, Settings } from "../core/dependencies.ts";
import { type SessionPrincipal, scopesOf } from "../domain/account.ts";
import { AppError } from "../domain/errors.ts";
import { idleLifetimeMs } from "../domain/session.ts";
import { isLoopbackHost } from "../lib/loopback.ts";
import { sha256Hex } from "../lib/sha256.ts";
import { forwardedBase } from "./client-ip.ts";

type CookieDependencies = Pick<Services, "settings" | "store" | "clock" | "uses">;

const tokenPattern = /^[0-9A-Za-z]{43}$/;
const plainName = "companiond_session";
const secureName = "__Host-companiond_session";

/** The principal together with its session's row. */
export interface OpenedSession extends SessionPrincipal {
  session: Session;
  /** By which the session is found. */
  sessionHash: string;
}

/** The last use is written at most this often, far more often than idle sessions end. */
const useIntervalMs = 60_000;

/**
 * The principal of the request's session; null if it has no cookie of a valid one. Throws `origin_not_allowed` if
 * another site's page sends the cookie to change something.
 */
export async function findSessionPrincipal(
  dependencies: CookieDependencies,
  request: Request,
): Promise<OpenedSession | null> {
  const found = await findSession(dependencies, request);
  if (found === null) return null;
  const nowMs = dependencies.clock.nowMs();
  const { id, createdAt, lastUsedAt } = found.session;
  // A last use in the future dates from before the clock was set back. A use before the session was made would end it for
  // want of others, once the clock is set right.
  if (nowMs >= createdAt && Math.abs(nowMs - lastUsedAt) > useIntervalMs) dependencies.uses.noteSession(id);
  const { account, member, session, hash: sessionHash } = found;
  return { account, member, scopes: scopesOf(member), keyId: null, sessionId: session.id, session, sessionHash };
}

async function findSession(dependencies: CookieDependencies, request: Request) {
  // A client that sends the header means it: the cookie must not make up for a wrong key.
  if (request.headers.has("authorization")) return null;
  const token = readToken(dependencies.settings, request);
  if (token === null) return null;
  requireSameOrigin(dependencies.settings, request);
  const hash = sha256Hex(token);
  const found = await dependencies.store.sessions.findByHash(hash);
  if (found === null || found.account.suspendedAt !== null) return null;
  return isAlive(found.session, dependencies.clock.nowMs()) ? { ...found, hash } : null;
}

export function isAlive(session: Session, nowMs: number): boolean {
  return nowMs < session.expiresAt && nowMs < session.lastUsedAt + idleLifetimeMs;
}

/**
 * The cookie's name for the address of the request: with TLS it has the prefix that only TLS can set; without TLS only
 * on a loopback host; null on plain HTTP elsewhere, where others on the network could read it.
 */
export function cookieNameOf(settings: OwnAddress, request: Request): string | null {
  const { protocol, host } = forwardedBase(request.headers, settings.trustedProxies, settings.isTls);
  if (protocol === "https") return secureName;
  // A browser on the server's own machine; a proxy that does not pass on the host at least shows its presence.
  if (isLoopbackHost(host) && !request.headers.has("x-forwarded-for")) return plainName;
  if (settings.publicUrl?.startsWith("https:")) return secureName;
  return isLoopbackHost(host) ? plainName : null;
}

/** `Set-Cookie` for a new session; an empty token ends it. */
export function renderCookie(name: string, token: string, maxAgeSeconds: number): string {
  const secure = name === secureName ? "; Secure" : "";
  return `${name}=${token}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`;
}

function readToken(settings: OwnAddress, request: Request): string | null {
  const name = request.headers.has("cookie") ? cookieNameOf(settings, request) : null;
  return name === null ? null : readCookie(request, name, tokenPattern);
}

/** The first cookie of that name whose value has the right format; others may come from elsewhere. */
export function readCookie(request: Request, name: string, shape: RegExp): string | null {
  for (const pair of request.headers.get("cookie")?.split(";") ?? []) {
    const [sentName, value = ""] = pair.trim().split("=", 2);
    if (sentName === name && shape.test(value)) return value;
  }
  return null;
}

/** The settings that identify requests to this server. */
export type OwnAddress = Pick<Settings, "publicUrl" | "trustedProxies" | "isTls">;

const safeMethods = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * The CSRF guard: checks that a state-changing request comes from a page of this server, so that other sites cannot
 * use its cookie. Throws `origin_not_allowed` for an unsafe request from another site's page.
 *
 * A request with neither header is accepted: every browser sends one of them with such a request, and other clients
 * have no cookie except from their own sign-in.
 */
export function requireSameOrigin(settings: OwnAddress, request: Request): void {
  if (safeMethods.has(request.method)) return;
  const site = request.headers.get("sec-fetch-site");
  const origin = request.headers.get("origin");
  const isOwn = site === null ? origin === null || isOwnOrigin(settings, request, origin) : site === "same-origin";
  if (isOwn) return;
  throw new AppError("origin_not_allowed", "Only the dashboard's own pages may use its session.");
}

/**
 * Compares only host and port with those of the request, since TLS may end before us; a page elsewhere can choose
 * neither.
 */
function isOwnOrigin(settings: OwnAddress, request: Request, origin: string): boolean {
  if (origin === settings.publicUrl) return true;
  const { host } = forwardedBase(request.headers, settings.trustedProxies, settings.isTls);
  return /^https?:\/\//.test(origin) && origin.slice(origin.indexOf("://") + 3) === host;
}

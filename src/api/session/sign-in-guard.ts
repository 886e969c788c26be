/** The checks before every sign-in (CSRF guard, TLS, rate limits), and the cookies after it. */
import type { Services } from "../../core/dependencies.ts";
import type { Client } from "../../core/sign-in/attempts.ts";
import type { Account } from "../../domain/account.ts";
import { AppError } from "../../domain/errors.ts";
import { identityOf } from "../../domain/member.ts";
import { type DeviceClaim, type DeviceOwner, deviceLifetimeMs, lifetimeMs, signDevice } from "../../domain/session.ts";
import { baseUrlOf } from "../../http/base-url.ts";
import { clientOf } from "../../http/client.ts";
import type { ClientIp } from "../../http/client-ip.ts";
import type { ResponseHead } from "../../http/json-response.ts";
import { writeContext } from "../../http/principal-guard.ts";
import { refuseQuery } from "../../http/query.ts";
import { admitClient, refuse } from "../../http/rate-limit.ts";
import { contextOf } from "../../http/request-context.ts";
import {
  cookieNameOf,
  findSessionPrincipal,
  type OpenedSession,
  type OwnAddress,
  readCookie,
  renderCookie,
  requireSameOrigin,
} from "../../http/session-cookie.ts";
import type { IdSource } from "../../lib/ids.ts";
import { readWireSignedIn } from "./model.ts";
import { isFamiliar, type NewSession, type SignedInVisitor } from "./service.ts";
import type { Visitor } from "./visitor.ts";

export function openSignIn(services: Services, request: Request, set: ResponseHead) {
  set.headers["cache-control"] = "no-store";
  requireSameOrigin(services.settings, request);
  refuseQuery(request);
  const cookieName = cookieNameOf(services.settings, request);
  if (cookieName === null) throw tlsRequired(services, request);
  return { visitor: visitorOf(services, request), cookieName };
}

function visitorOf(services: Services, request: Request): Visitor {
  const client = clientOf(services, request);
  return {
    address: client.limitSubject,
    ipPrefix: client.logPrefix,
    userAgent: request.headers.get("user-agent")?.slice(0, 300) ?? null,
    requestId: contextOf(request, services.ids).requestId,
  };
}

/** Successful sign-ins count too: this bounds what password checks cost us. */
export async function limitSignIn(
  services: Services,
  client: Pick<ClientIp, "limitSubject" | "networks">,
): Promise<void> {
  const verdict = await admitClient(services.limiter, services.rules.signInByIp, client);
  refuse(verdict, "This address has tried to sign in too often.");
}

/** The same, by session, for a request that must confirm a secret. */
export async function limitSignedIn(
  services: Services,
  request: Request,
  { account, member, sessionId }: OpenedSession,
): Promise<SignedInVisitor> {
  await limitSignIn(services, { limitSubject: `session ${sessionId}`, networks: null });
  return { visitor: visitorOf(services, request), account, member, sessionId };
}

/**
 * Reads a sign-in and decides how its client is counted. A browser that was signed in to the account before is counted
 * on its own, so that no one who shares its address can delay it. To recognize it, the body is read before any limit.
 */
export async function admitSignIn<Body extends { email: string }>(
  services: Services,
  request: Request,
  { address }: Visitor,
  readBody: () => Promise<Body>,
): Promise<{ client: Client; body: Body }> {
  const stranger = { subject: address, isFamiliar: false };
  const device = readDevice(services.settings, request);
  if (device === null) {
    await limitSignIn(services, clientOf(services, request));
    return { client: stranger, body: await readBody() };
  }
  const body = await readBody();
  if (!(await isFamiliar(services, device, body.email))) {
    await limitSignIn(services, clientOf(services, request));
    return { client: stranger, body };
  }
  const client = { subject: `device ${device.id}`, isFamiliar: true };
  await limitSignIn(services, { limitSubject: client.subject, networks: null });
  return { client, body };
}

export async function respondSignedIn(
  services: Services,
  request: Request,
  set: ResponseHead,
  cookieName: string,
  made: NewSession,
) {
  await endSessionBefore(services, request);
  const { account, session, token } = made;
  set.headers["set-cookie"] = [
    renderCookie(cookieName, token, lifetimeMs / 1000),
    deviceCookieOf(services, cookieName, account, made.passwordHash),
  ];
  return readWireSignedIn(services, made, session, baseUrlOf(services.settings, request));
}

/** For the browser that has just changed what its cookie was derived from: the person's password or second factor. */
export async function renewDevice(
  services: Services,
  request: Request,
  set: ResponseHead,
  { email }: Pick<Account, "email">,
): Promise<void> {
  const access = await services.store.sessions.findAccess(email);
  const name = cookieNameOf(services.settings, request);
  if (name === null || access === null || access.passwordHash === null) return;
  set.headers["set-cookie"] = deviceCookieOf(services, name, access.account, access.passwordHash);
}

function deviceCookieOf(services: Services, cookieName: string, account: Account, passwordHash: string): string {
  const made = { ids: services.ids, nowMs: services.clock.nowMs() };
  return renderDeviceCookie(cookieName, { ...account, passwordHash }, made);
}

/** Ends the session that this browser had; the new one replaces it. */
async function endSessionBefore(services: Services, request: Request): Promise<void> {
  const before: OpenedSession | null = await findSessionPrincipal(services, request);
  if (before === null) return;
  const context = writeContext(services, request, before);
  await services.store.sessions.revoke(identityOf(before), before.sessionId, context);
}

function tlsRequired(services: Services, request: Request): AppError {
  const address = baseUrlOf(services.settings, request).replace(/^http:/, "https:");
  return new AppError(
    "invalid_request",
    `Signing in requires TLS here, because others on the network could read the password. Open ${address}/app; for that, start ` +
      "the server with --tls-cert and --tls-key, or put a proxy with TLS in front of it and set " +
      "COMPANIOND_TRUST_PROXY=1. On the server's own machine, http://localhost works as it is.",
  );
}

const idLength = 22;
const pattern = /^([0-9A-Za-z]{22})\.(\d{1,15})\.([0-9a-f]{64})$/;

export function readDevice(settings: OwnAddress, request: Request): DeviceClaim | null {
  const sessionName = cookieNameOf(settings, request);
  const value = sessionName === null ? null : readCookie(request, deviceNameOf(sessionName), pattern);
  const [, id = "", issuedAt = "", signature = ""] = pattern.exec(value ?? "") ?? [];
  return id === "" ? null : { id, issuedAt: Number(issuedAt), signature };
}

/**
 * The cookie of a browser that has signed in to an account before. It gives no access: it only lets the browser go
 * before others who guess at the account. The account's password hash is the key that signs it, so it ends with the
 * password; and it ends when a second factor is turned on or off, since a person who had only the password must not pass
 * for the owner. Nothing needs to be stored for that. `Set-Cookie` for a browser that has just signed in. Only the
 * sign-in routes receive it.
 */
export function renderDeviceCookie(
  sessionName: string,
  owner: DeviceOwner,
  { ids, nowMs }: { ids: Pick<IdSource, "secret">; nowMs: number },
): string {
  const id = ids.secret(idLength);
  const name = deviceNameOf(sessionName);
  const secure = name.startsWith("__Secure-") ? "; Secure" : "";
  const value = `${id}.${nowMs}.${signDevice(owner, id, nowMs)}`;
  return `${name}=${value}; Path=/api/session; Max-Age=${deviceLifetimeMs / 1000}; HttpOnly; SameSite=Strict${secure}`;
}

/** Without `__Host-`, which would send it with every request. */
function deviceNameOf(sessionName: string): string {
  return sessionName.startsWith("__Host-") ? "__Secure-companiond_device" : "companiond_device";
}

/** Signing in with a password, and the session that starts with it. */
import type { Session, SignInAccess } from "../../contracts/store/store.ts";
import type { Client } from "../../core/sign-in/attempts.ts";
import { normalizeEmail } from "../../domain/email.ts";
import { AppError, invalidFields } from "../../domain/errors.ts";
import { identityOf, personIdOf } from "../../domain/member.ts";
import { type DeviceClaim, isDeviceOf, lifetimeMs, sessionTokenLength } from "../../domain/session.ts";
import { type PasswordLane, verifyPassword } from "../../lib/password-hash.ts";
import { SemaphoreFull } from "../../lib/semaphore.ts";
import { sha256Hex } from "../../lib/sha256.ts";
import type { SignIn } from "./model.ts";
import { refuseWithoutSecondFactor } from "./second-factor.ts";
import { actorOf, contextOf, type SessionServices, type Visitor } from "./visitor.ts";

export interface NewSession extends SignInAccess {
  session: Session;
  /** For the cookie; only its hash is stored. */
  token: string;
  /** Signs the cookie that identifies the browser next time. */
  passwordHash: string;
}

/** A visitor with an open session. */
export interface SignedInVisitor extends SignInAccess {
  visitor: Visitor;
  sessionId: string;
}

/** Whether the browser has signed in with this address before. */
export async function isFamiliar(services: SessionServices, device: DeviceClaim, typedEmail: string): Promise<boolean> {
  const access = await services.store.sessions.findAccess(normalizeEmail(typedEmail) ?? "");
  if (access === null || access.passwordHash === null) return false;
  const { account, passwordHash } = access;
  return isDeviceOf(device, { ...account, passwordHash }, services.clock.nowMs());
}

/** Throws `unauthorized`, with the same text and after the same time whether or not the account exists. */
export async function signIn(
  services: SessionServices,
  visitor: Visitor,
  client: Client,
  sent: SignIn,
): Promise<NewSession> {
  const email = normalizeEmail(sent.email) ?? "";
  type Entry = SignInAccess & { passwordHash: string };
  const entry = await services.signInAttempts.run<Entry | AppError>(client, email, async (attempt) => {
    // Read now: the password may have changed while this attempt waited.
    const access = await services.store.sessions.findAccess(email);
    const passwordHash = access?.passwordHash ?? null;
    const isRight = await comparePassword(sent.password, passwordHash, client.isFamiliar ? "familiar" : "stranger");
    if (access === null || passwordHash === null || !isRight || access.account.suspendedAt !== null) {
      if (access !== null) noteRefusal(services, visitor, access, attempt.accountFailures);
      return { verdict: "wrong", value: unauthorized("Email or password is wrong.") };
    }
    const context = contextOf(services, visitor, null);
    const refusal = await refuseWithoutSecondFactor(services, attempt, identityOf(access), sent.totp, context);
    if (refusal === null) return { verdict: "right", value: { ...access, passwordHash } };
    if (refusal.verdict === "wrong") noteRefusal(services, visitor, access, attempt.accountFailures);
    return refusal;
  });
  if (entry instanceof AppError) throw entry;
  return openSession(services, visitor, entry, entry.passwordHash);
}

/** Throws `invalid_request` for `param` if this is not the password of the signed-in person. */
export async function requirePassword(
  services: SessionServices,
  { account, sessionId }: SignedInVisitor,
  { param, password }: { param: string; password: string },
): Promise<void> {
  const client = { subject: `session ${sessionId}`, isFamiliar: true };
  const isRight = await services.signInAttempts.run(client, account.email, async () => {
    const access = await services.store.sessions.findAccess(account.email);
    const isRight = await comparePassword(password, access?.passwordHash ?? null, "familiar");
    return { verdict: isRight ? "right" : "wrong", value: isRight };
  });
  if (!isRight) throw invalidFields([{ param, detail: "This is not the account's password." }]);
}

/**
 * Every sign-in gets a new token: an existing cookie is never reused. Throws `unauthorized` if the person's password
 * or second factor has changed since it was checked.
 */
export async function openSession(
  services: SessionServices,
  visitor: Visitor,
  { account, member }: SignInAccess,
  passwordHash: string,
): Promise<NewSession> {
  const nowMs = services.clock.nowMs();
  const token = services.ids.secret(sessionTokenLength);
  const session: Session = {
    id: services.ids.uuid(),
    ...identityOf({ account, member }),
    userAgent: visitor.userAgent,
    ipPrefix: visitor.ipPrefix,
    createdAt: nowMs,
    lastUsedAt: nowMs,
    expiresAt: nowMs + lifetimeMs,
  };
  const context = contextOf(services, visitor, { sessionId: session.id, member });
  const shown = { passwordHash, totpConfirmedAt: account.totpConfirmedAt };
  if (!(await services.store.sessions.create(session, sha256Hex(token), context, shown))) {
    throw unauthorized("The password or second factor has just been changed. Sign in again.");
  }
  return { account, member, session, token, passwordHash };
}

function comparePassword(password: string, hash: string | null, lane: PasswordLane): Promise<boolean> {
  return whileQuiet(() => verifyPassword(password, hash, lane));
}

/** Not awaited: the response to a wrong password must not take longer if the account exists. */
function noteRefusal(services: SessionServices, visitor: Visitor, access: SignInAccess, failures: number): void {
  // A guesser must not fill the disk.
  if (failures > 20 && failures % 100 !== 0) return;
  services.store.audit
    .record({
      id: services.ids.uuid(),
      accountId: access.account.id,
      actor: actorOf(visitor, null),
      action: "session.refuse",
      targetId: personIdOf(identityOf(access)),
      details: { failures },
      createdAt: services.clock.nowMs(),
    })
    .catch((error: unknown) => services.log.warn("refused sign-in not recorded", { error }));
}

/** Passwords cost more CPU than anything else here: once the queue is full, callers must come back later. */
export async function whileQuiet<Result>(compute: () => Promise<Result>): Promise<Result> {
  try {
    return await compute();
  } catch (error) {
    if (!(error instanceof SemaphoreFull)) throw error;
    throw new AppError("unavailable", "Too many people are signing in. Try again in a moment.", {
      cause: error,
      retryAfterSeconds: 2,
    });
  }
}

export function unauthorized(publicSentence: string): AppError {
  return new AppError("unauthorized", publicSentence, { headers: { "www-authenticate": "Bearer" } });
}

/** Sign-in by password or one-time link, and what ends a session. */
import type { Account } from "../../domain/account.ts";
import { normalizeEmail } from "../../domain/email.ts";
import { AppError, invalidFields } from "../../domain/errors.ts";
import { hashLinkSecret } from "../../domain/one-time-link.ts";
import { lifetimeMs } from "../../domain/session.ts";
import type { Services } from "../../http/services.ts";
import { sessionTokenLength } from "../../http/session-cookie.ts";
import { GateFull } from "../../lib/gate.ts";
import { hashPassword, verifyPassword } from "../../lib/password-hash.ts";
import { sha256Hex } from "../../lib/sha256.ts";
import type { AuditActor, OneTimeLink, Session, WriteContext } from "../../store/store.ts";
import type { Attempt, Attempts } from "./attempts.ts";
import type { PasswordChange, PasswordReset, SetUp, SignIn } from "./model.ts";

type SessionServices = Pick<Services, "store" | "clock" | "ids" | "log">;

/** Who is at the other end, before there is a principal. */
export interface Visitor {
  /** What limits count. */
  client: string;
  ipPrefix: string;
  userAgent: string | null;
  requestId: string;
}

export interface NewSession {
  account: Account;
  session: Session;
  /** For the cookie; only its hash is kept. */
  token: string;
}

/** Throws `unauthorized`, in the same words and after the same time whether or not there is such an account. */
export async function signIn(
  services: SessionServices,
  attempts: Attempts,
  visitor: Visitor,
  sent: SignIn,
): Promise<NewSession> {
  const email = normalizeEmail(sent.email) ?? "";
  const attempt = await attempts.begin(visitor.client, email);
  const account = await services.store.accounts.findByEmail(email);
  const isRight = await isPassword(services, attempt, account, sent.password);
  if (account === null || !isRight || account.suspendedAt !== null) {
    if (account !== null) noteRefusal(services, visitor, account, attempt.accountFailures);
    throw unauthorized("E-mail address or password is wrong.");
  }
  return openSession(services, visitor, account);
}

export async function changePassword(
  services: SessionServices,
  attempts: Attempts,
  visitor: Visitor,
  account: Account,
  sessionId: string,
  sent: PasswordChange,
): Promise<void> {
  const attempt = await attempts.begin(visitor.client, account.email);
  if (!(await isPassword(services, attempt, account, sent.current_password))) {
    throw invalidFields([{ param: "current_password", detail: "This is not the account's password." }]);
  }
  await setPassword(services, account.id, sent.new_password, contextOf(services, visitor, sessionId), sessionId);
}

/** Makes the operator of a new installation. */
export async function setUp(services: SessionServices, visitor: Visitor, sent: SetUp): Promise<NewSession> {
  const account = await spendLink(services, sent.secret, "setup", async () => {
    const passwordHash = await whileQuiet(() => hashPassword(sent.password));
    const email = normalizeEmail(sent.email) ?? "";
    return services.store.accounts.create(
      { id: services.ids.uuid(), email, plan: "free", role: "operator", passwordHash },
      contextOf(services, visitor, null),
    );
  });
  return openSession(services, visitor, account);
}

/** Sets the password of the link's account and ends all its sessions but the new one. */
export async function resetPassword(
  services: SessionServices,
  visitor: Visitor,
  sent: PasswordReset,
): Promise<NewSession> {
  const account = await spendLink(services, sent.secret, "reset", async ({ accountId }) => {
    const found = accountId === null ? null : await services.store.accounts.findById(accountId);
    if (found === null) throw linkGone();
    await setPassword(services, found.id, sent.password, contextOf(services, visitor, null), null);
    return found;
  });
  if (account.suspendedAt !== null) throw unauthorized("The password is set, but the account is suspended.");
  return openSession(services, visitor, account);
}

async function isPassword(
  { store }: SessionServices,
  attempt: Attempt,
  account: Account | null,
  password: string,
): Promise<boolean> {
  try {
    const hash = account === null ? null : await store.accounts.findPasswordHash(account.id);
    const isRight = await whileQuiet(() => verifyPassword(password, hash));
    if (isRight) attempt.forgive(true);
    return isRight;
  } catch (error) {
    attempt.forgive(false);
    throw error;
  }
}

async function setPassword(
  services: SessionServices,
  accountId: string,
  password: string,
  context: WriteContext,
  keptSessionId: string | null,
): Promise<void> {
  const passwordHash = await whileQuiet(() => hashPassword(password));
  await services.store.accounts.update(accountId, { passwordHash }, context);
  await services.store.sessions.revokeAll(accountId, keptSessionId, { ...context, auditId: services.ids.uuid() });
}

/** Runs `use` with the link of the secret; where that fails, the link can be used again. */
async function spendLink<Result>(
  services: SessionServices,
  secret: string,
  kind: OneTimeLink["kind"],
  use: (link: OneTimeLink) => Promise<Result>,
): Promise<Result> {
  const hash = hashLinkSecret(secret);
  const link = hash === null ? null : await services.store.sessions.takeLink(hash, services.clock.nowMs());
  if (link === null) throw linkGone();
  try {
    if (link.kind !== kind) throw linkGone();
    return await use(link);
  } catch (error) {
    await services.store.sessions.createLink(link);
    throw error;
  }
}

/** A token of its own for every sign-in: a cookie that was there before is never taken over. */
async function openSession(services: SessionServices, visitor: Visitor, account: Account): Promise<NewSession> {
  const nowMs = services.clock.nowMs();
  const token = services.ids.secret(sessionTokenLength);
  const session: Session = {
    id: services.ids.uuid(),
    accountId: account.id,
    userAgent: visitor.userAgent,
    ipPrefix: visitor.ipPrefix,
    createdAt: nowMs,
    lastUsedAt: nowMs,
    expiresAt: nowMs + lifetimeMs,
  };
  await services.store.sessions.create(session, sha256Hex(token), contextOf(services, visitor, session.id));
  return { account, session, token };
}

function contextOf({ clock, ids }: SessionServices, visitor: Visitor, sessionId: string | null): WriteContext {
  return { actor: actorOf(visitor, sessionId), nowMs: clock.nowMs(), auditId: ids.uuid() };
}

function actorOf(visitor: Visitor, sessionId: string | null): AuditActor {
  return { kind: "session", id: sessionId, ipPrefix: visitor.ipPrefix, requestId: visitor.requestId };
}

/** Not awaited: the answer to a wrong password must not take longer where the account exists. */
function noteRefusal(services: SessionServices, visitor: Visitor, account: Account, failures: number): void {
  // A guesser must not fill the disk.
  if (failures > 20 && failures % 100 !== 0) return;
  services.store.audit
    .record({
      id: services.ids.uuid(),
      accountId: account.id,
      actor: actorOf(visitor, null),
      action: "session.refuse",
      targetId: account.id,
      details: { failures },
      createdAt: services.clock.nowMs(),
    })
    .catch((error: unknown) => services.log.warn("refused sign-in not recorded", { error }));
}

/** Passwords cost more than anything else here: past a queue's worth of them the caller is told to come back. */
async function whileQuiet<Result>(compute: () => Promise<Result>): Promise<Result> {
  try {
    return await compute();
  } catch (error) {
    if (!(error instanceof GateFull)) throw error;
    throw new AppError("unavailable", "Too many people are signing in. Try again in a moment.", {
      cause: error,
      retryAfterSeconds: 2,
    });
  }
}

function unauthorized(publicSentence: string): AppError {
  return new AppError("unauthorized", publicSentence, { headers: { "www-authenticate": "Bearer" } });
}

function linkGone(): AppError {
  return new AppError("not_found", "This link was used already, or is older than 30 minutes. Ask for a new one.");
}

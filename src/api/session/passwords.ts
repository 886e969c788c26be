/** Sets new passwords, for people who are signed in or with a one-time link. */
import type { OneTimeLink, SignInAccess } from "../../contracts/store/store.ts";
import { asMember } from "../../domain/account.ts";
import { normalizeEmail } from "../../domain/email.ts";
import { AppError, missing } from "../../domain/errors.ts";
import { identityOf } from "../../domain/member.ts";
import { hashLinkSecret } from "../../domain/one-time-link.ts";
import { toRfc3339 } from "../../lib/clock.ts";
import { hashPassword } from "../../lib/password-hash.ts";
import type { PasswordChange, PasswordReset, SetUp } from "./model.ts";
import type { LinkObject } from "./responses.ts";
import { refuseWithoutSecondFactor } from "./second-factor.ts";
import {
  type NewSession,
  openSession,
  requirePassword,
  type SignedInVisitor,
  unauthorized,
  whileQuiet,
} from "./service.ts";
import { contextOf, type SessionServices, type Visitor } from "./visitor.ts";

export async function changePassword(
  services: SessionServices,
  signedIn: SignedInVisitor,
  sent: PasswordChange,
): Promise<void> {
  await requirePassword(services, signedIn, { param: "current_password", password: sent.current_password });
  const { visitor, sessionId } = signedIn;
  const passwordHash = await whileQuiet(() => hashPassword(sent.new_password));
  const context = contextOf(services, visitor, signedIn);
  const { setPassword } = services.store.accounts;
  if (!(await setPassword(identityOf(signedIn), passwordHash, sessionId, context))) throw missing("account");
}

/** What the link is for; it stays valid. Throws `not_found` for one that can no longer be used. */
export async function describeLink(services: SessionServices, { secret }: { secret: string }): Promise<LinkObject> {
  const link = await findLink(services, secret);
  if (link === null) throw linkGone();
  return { kind: link.kind, email: await emailOf(services, link), expires_at: toRfc3339(link.expiresAt) };
}

async function emailOf({ store }: SessionServices, { kind, accountId, memberId }: OneTimeLink): Promise<string | null> {
  if (kind === "setup") {
    if (await store.accounts.hasAnyPassword()) throw isSetUpAlready();
    return null;
  }
  if (accountId === null) throw linkGone();
  const found =
    memberId === null ? await store.accounts.findById(accountId) : await store.members.find(accountId, memberId);
  if (found === null) throw linkGone();
  return found.email;
}

/** Creates the operator of a new installation. */
export async function setUp(services: SessionServices, visitor: Visitor, sent: SetUp): Promise<NewSession> {
  const link = await getLink(services, sent.secret, "setup");
  if (await services.store.accounts.hasAnyPassword()) throw isSetUpAlready();
  const passwordHash = await whileQuiet(() => hashPassword(sent.password));
  const email = normalizeEmail(sent.email) ?? "";
  const operator = { id: services.ids.uuid(), email, plan: "free", role: "operator", passwordHash } as const;
  const context = contextOf(services, visitor, null);
  const account = await services.store.sessions.spendSetUpLink(link.hash, operator, context);
  // Someone else was first, with the same link or with a password set on the command line.
  if (account === null) throw (await services.store.accounts.hasAnyPassword()) ? isSetUpAlready() : linkGone();
  return openSession(services, visitor, { account, member: null }, passwordHash);
}

/** Sets the password of the account's own sign-in, and ends all its sessions except the new one. */
export async function resetPassword(
  services: SessionServices,
  visitor: Visitor,
  sent: PasswordReset,
): Promise<NewSession> {
  const link = await getLink(services, sent.secret, "reset");
  const found = link.accountId === null ? null : await services.store.accounts.findById(link.accountId);
  if (found === null) throw linkGone();
  const own = { account: found, member: null };
  await requireSecondFactor(services, { visitor, link, ...own }, sent);
  const passwordHash = await whileQuiet(() => hashPassword(sent.password));
  const context = contextOf(services, visitor, null);
  const account = await services.store.sessions.spendResetLink(link.hash, passwordHash, context);
  if (account === null) throw linkGone();
  if (account.suspendedAt !== null) throw unauthorized("The password is set, but the account is suspended.");
  // The account as it was when its second factor was checked.
  return openSession(services, visitor, own, passwordHash);
}

/** Joins the member, or lets one who has joined choose another password; ends their sessions except the new one. */
export async function acceptInvitation(
  services: SessionServices,
  visitor: Visitor,
  sent: PasswordReset,
): Promise<NewSession> {
  const link = await getLink(services, sent.secret, "invitation");
  const { members, sessions, accounts } = services.store;
  const { accountId, memberId } = link;
  if (accountId === null || memberId === null) throw linkGone();
  const [account, member] = await Promise.all([accounts.findById(accountId), members.find(accountId, memberId)]);
  if (account === null || member === null) throw linkGone();
  const found = { account: asMember(account, member), member };
  await requireSecondFactor(services, { visitor, link, ...found }, sent);
  const passwordHash = await whileQuiet(() => hashPassword(sent.password));
  const joined = await sessions.spendInvitation(link.hash, passwordHash, contextOf(services, visitor, null));
  if (joined === null) throw linkGone();
  if (account.suspendedAt !== null) throw unauthorized("The password is set, but the account is suspended.");
  return openSession(services, visitor, found, passwordHash);
}

/** A link replaces only the password. */
async function requireSecondFactor(
  services: SessionServices,
  { visitor, link, ...access }: SignInAccess & { visitor: Visitor; link: OneTimeLink },
  sent: PasswordReset,
): Promise<void> {
  if (access.account.totpConfirmedAt === null) return;
  const client = { subject: `link ${link.hash}`, isFamiliar: true };
  const refusal = await services.signInAttempts.run(client, access.account.email, async (attempt) => {
    const context = contextOf(services, visitor, null);
    const refused = await refuseWithoutSecondFactor(services, attempt, identityOf(access), sent.totp, context);
    return refused ?? { verdict: "right", value: null };
  });
  if (refusal !== null) throw refusal;
}

/** Does not use up the link: a form with a mistake or a missing code can be sent again. */
async function getLink(services: SessionServices, secret: string, kind: OneTimeLink["kind"]): Promise<OneTimeLink> {
  const link = await findLink(services, secret);
  if (link === null || link.kind !== kind) throw linkGone();
  return link;
}

async function findLink({ store, clock }: SessionServices, secret: string): Promise<OneTimeLink | null> {
  const hash = hashLinkSecret(secret);
  return hash === null ? null : await store.sessions.findLink(hash, clock.nowMs());
}

function isSetUpAlready(): AppError {
  return new AppError("not_found", "This server is set up already. Sign in, or ask its operator for a link.");
}

function linkGone(): AppError {
  return new AppError("not_found", "This link has been used, has been replaced, or is too old. Ask for a new one.");
}

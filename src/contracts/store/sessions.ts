/** Dashboard sessions, and the one-time links that start them. */
import type { Account } from "../../domain/account.ts";
import type { Identity, Member } from "../../domain/member.ts";
import type { NewAccount } from "./accounts.ts";
import type { WriteContext } from "./write-context.ts";

/** A dashboard session. */
export interface Session {
  id: string;
  accountId: string;
  /** Null: the account's own sign-in. */
  memberId: string | null;
  userAgent: string | null;
  ipPrefix: string | null;
  createdAt: number;
  lastUsedAt: number;
  /** Absolute end, 30 days after creation. */
  expiresAt: number;
}

/** A one-time link: first set-up (no account yet), password reset, or a member's invitation. */
export interface OneTimeLink {
  /** SHA-256 of the secret. */
  hash: string;
  kind: "setup" | "reset" | "invitation";
  accountId: string | null;
  /** Set for an invitation alone. */
  memberId: string | null;
  expiresAt: number;
}

/** The access that a sign-in was checked against. */
export interface ShownAccess {
  passwordHash: string;
  totpConfirmedAt: number | null;
}

/** Who signs in: the account as `asMember` shows it, and the member; null for the account's own sign-in. */
export interface SignInAccess {
  account: Account;
  member: Member | null;
}

export interface SessionStore {
  /**
   * `hash` is the SHA-256 of the cookie's token. False, changing nothing, if the person's access is no longer the
   * `shown` one: old credentials must not open a session. Audit: `session.create`.
   */
  create(session: Session, hash: string, context: WriteContext, shown?: ShownAccess): Promise<boolean>;
  findByHash(hash: string): Promise<(SignInAccess & { session: Session }) | null>;
  /** Whom the address signs in: an account's own, or a member who has joined; `passwordHash` is null without a password. */
  findAccess(email: string): Promise<(SignInAccess & { passwordHash: string | null }) | null>;
  /** The person's own. */
  list(person: Identity): Promise<Session[]>;
  /** False if it is not the person's own. Audit: `session.revoke`. */
  revoke(person: Identity, sessionId: string, context: WriteContext): Promise<boolean>;
  /** Sets the last use of many sessions in one commit. */
  recordUses(uses: readonly { sessionId: string; lastUsedAt: number }[]): Promise<void>;
  /** Deletes sessions and links past their end, and sessions idle since before `idleBeforeMs`. */
  purge(nowMs: number, idleBeforeMs: number): Promise<void>;
  /**
   * Stores a link. A set-up link replaces all earlier set-up links, a reset link those of its account, an invitation
   * those of its member; rejects with `not_found` if the account has no such member. Audit: `link.create`. While there is no account, the entry of a set-up link waits for the account that the link creates.
   */
  createLink(link: OneTimeLink, context: WriteContext): Promise<void>;
  /** The link if it is unused and not expired at `nowMs`. Check it before doing anything for the holder. */
  findLink(hash: string, nowMs: number): Promise<OneTimeLink | null>;
  /**
   * Uses up a set-up link and creates its account in one write; null, changing nothing, if the link is not valid, or if
   * any account has a password. Rejects as `AccountStore.create` does, and keeps the link then. Audit:
   * `account.create`.
   */
  spendSetUpLink(hash: string, account: NewAccount, context: WriteContext): Promise<Account | null>;
  /**
   * Uses up a reset link: sets the password of its account's own sign-in and ends that one's sessions and links in one
   * write; null, changing nothing, if the link is not valid. Audit: `account.update`.
   */
  spendResetLink(hash: string, passwordHash: string, context: WriteContext): Promise<Account | null>;
  /**
   * The same with an invitation; who had not joined, has joined with it. Rejects with `conflict`, and keeps the link, if
   * the address signs in already: to another account, or as another member. Of invitations to one address that are spent
   * at the same time, in any accounts, one succeeds. Audit: `member.join`, `member.update`.
   */
  spendInvitation(hash: string, passwordHash: string, context: WriteContext): Promise<SignInAccess | null>;
}

/** Dashboard sessions, and the one-time links that begin them. */
import type { Account } from "../../domain/account.ts";
import type { NewAccount } from "./accounts.ts";
import type { WriteContext } from "./write-context.ts";

/** A dashboard session. */
export interface Session {
  id: string;
  accountId: string;
  userAgent: string | null;
  ipPrefix: string | null;
  createdAt: number;
  lastUsedAt: number;
  /** Hard end, 30 days after creation. */
  expiresAt: number;
}

/** A one-time link: first set-up (no account yet) or password reset. */
export interface OneTimeLink {
  /** SHA-256 of the secret. */
  hash: string;
  kind: "setup" | "reset";
  accountId: string | null;
  expiresAt: number;
}

/** What a sign-in was checked against. */
export interface ShownAccess {
  passwordHash: string;
  totpConfirmedAt: number | null;
}

export interface SessionStore {
  /**
   * `hash` is the SHA-256 of the cookie's token. False, changing nothing, where the account's access is not the `shown`
   * one any more: whoever knew it before is out. Audit: `session.create`.
   */
  create(session: Session, hash: string, context: WriteContext, shown?: ShownAccess): Promise<boolean>;
  findByHash(hash: string): Promise<{ session: Session; account: Account } | null>;
  list(accountId: string): Promise<Session[]>;
  /** Audit: `session.revoke`. */
  revoke(accountId: string, sessionId: string, context: WriteContext): Promise<boolean>;
  /** Sets last use of many in one commit. */
  recordUses(uses: readonly { sessionId: string; lastUsedAt: number }[]): Promise<void>;
  /** Deletes sessions and links past their end, or idle since before `idleBeforeMs`. */
  purge(nowMs: number, idleBeforeMs: number): Promise<void>;
  /**
   * Keeps a link; a set-up link replaces every earlier one of its kind, a reset link those of its account. Audit:
   * `link.create`. While there is no account, that of a set-up link waits for the one that the link makes.
   */
  createLink(link: OneTimeLink, context: WriteContext): Promise<void>;
  /** The link, unspent and not expired at `nowMs`; to be asked before anything is done for whoever holds it. */
  findLink(hash: string, nowMs: number): Promise<OneTimeLink | null>;
  /**
   * Spends a set-up link and makes its account in one write; null, changing nothing, where the link is gone, or where
   * any account has a password. Rejects as `AccountStore.create` does; the link stays then. Audit: `account.create`.
   */
  spendSetUpLink(hash: string, account: NewAccount, context: WriteContext): Promise<Account | null>;
  /**
   * Spends a reset link: its account gets the password, all its sessions and links end, in one write; null, changing
   * nothing, where the link is gone. Audit: `account.update`.
   */
  spendResetLink(hash: string, passwordHash: string, context: WriteContext): Promise<Account | null>;
}

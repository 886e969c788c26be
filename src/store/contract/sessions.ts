/** Dashboard sessions, and the one-time links that begin them. */
import type { Account } from "../../domain/account.ts";
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

export interface SessionStore {
  /** `hash` is the SHA-256 of the cookie's token. Audit: `session.create`. */
  create(session: Session, hash: string, context: WriteContext): Promise<void>;
  findByHash(hash: string): Promise<{ session: Session; account: Account } | null>;
  list(accountId: string): Promise<Session[]>;
  /** Audit: `session.revoke`. */
  revoke(accountId: string, sessionId: string, context: WriteContext): Promise<boolean>;
  /** Ends all sessions of the account but `exceptId`: after a change of password. */
  revokeAll(accountId: string, exceptId: string | null, context: WriteContext): Promise<void>;
  /** Sets last use of many in one commit. */
  recordUses(uses: readonly { sessionId: string; lastUsedAt: number }[]): Promise<void>;
  /** Deletes sessions and links past their end, or idle since before `idleBeforeMs`. */
  purge(nowMs: number, idleBeforeMs: number): Promise<void>;
  /** Keeps a link; a set-up link replaces every earlier one of its kind, a reset link those of its account. */
  createLink(link: OneTimeLink): Promise<void>;
  /** Spends a link: returns it once, if it has not expired at `nowMs`; null ever after. */
  takeLink(hash: string, nowMs: number): Promise<OneTimeLink | null>;
}

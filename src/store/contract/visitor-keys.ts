/** The keys with which websites sign tokens for their visitors; at most `mostVisitorKeys` of an account are live. */
import type { VisitorKeyAlgorithm } from "../../domain/visitor.ts";
import type { WriteContext } from "./write-context.ts";

export interface VisitorKey {
  id: string;
  name: string;
  algorithm: VisitorKeyAlgorithm;
  /** The secret, or the public key as a JWK, sealed: a lost key of the server is noticed with either. */
  sealed: string;
  createdAt: number;
}

export interface VisitorKeyStore {
  /** Rejects with `conflict`, and writes nothing, if `mostVisitorKeys` are live. Audit: `visitor_key.create`. */
  create(accountId: string, key: VisitorKey, context: WriteContext): Promise<void>;
  /** The live ones, newest first. One indexed lookup: every token is checked against it. */
  list(accountId: string): Promise<VisitorKey[]>;
  /**
   * From now on the key is not listed, and what was sealed is gone. False if the account has no such live key. Audit:
   * `visitor_key.revoke`.
   */
  revoke(accountId: string, id: string, context: WriteContext): Promise<boolean>;
  /** E-mail addresses of up to `limit` accounts that have, or had, a key: conversations of theirs hold sealed text. */
  listHolders(limit: number): Promise<string[]>;
  /**
   * Deletes the account's keys, also the revoked ones, and all that is sealed of its visitors: for a server whose key is
   * lost. False if there is no such account. Audit: `visitor_key.reset`.
   */
  reset(accountId: string, context: WriteContext): Promise<boolean>;
}

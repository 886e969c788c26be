/** The keys with which websites sign tokens for their visitors. */
import type { VisitorKeyAlgorithm, VisitorKeyFilter } from "../../domain/visitor.ts";
import type { Page, PageRequest } from "./page.ts";
import type { WriteContext } from "./write-context.ts";

export interface VisitorKey {
  id: string;
  name: string;
  algorithm: VisitorKeyAlgorithm;
  /** The companions that it vouches for. */
  metadata: VisitorKeyFilter;
  /** The secret, or the public key as a JWK, sealed: a lost key of the server is noticed with either. */
  sealed: string;
  createdAt: number;
}

/** At most so many live keys are compared with a companion. */
export const maxCompared = 1_000;

export interface VisitorKeyStore {
  /**
   * Rejects, and writes nothing, if as many are live as may be, however many come at the same time: with `conflict` if
   * `maxKeysOfFilter` have the same filter, in any order of its members; with `limit_reached` if the account has
   * `maxVisitorKeys`. Audit: `visitor_key.create`.
   */
  create(accountId: string, key: VisitorKey, context: WriteContext): Promise<void>;
  /** The live ones, newest first. */
  list(accountId: string, page: PageRequest): Promise<Page<VisitorKey>>;
  /** Null if the account has no such live key. One indexed lookup: every token that names its key is checked against it. */
  find(accountId: string, id: string): Promise<VisitorKey | null>;
  /**
   * The one live key that covers a companion with these facts (`visitorFactsOf`); null if there is none, or more than one.
   * Indexed by the fact of a filter that the fewest others have: keys whose filters share all their values are compared one
   * by one, and null stands for more than `maxCompared`, too.
   */
  findOnly(accountId: string, facts: readonly string[]): Promise<VisitorKey | null>;
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

/** API keys: found only by their hash, and each in the line of the key that created it. */

import type { Account, ApiKey, Scope } from "../../domain/account.ts";
import type { SpendingState } from "../../domain/budget.ts";
import type { WriteContext } from "./write-context.ts";

export interface NewApiKey {
  id: string;
  name: string;
  /** The first characters of the key, for display. */
  start: string;
  /** The last four characters, for display. */
  lastFour: string;
  /** SHA-256 of the whole key, 32 bytes; nothing else of the key is stored. */
  hash: Uint8Array;
  scopes: readonly Scope[];
  expiresAt: number | null;
  /** The key that created it; null for the dashboard and for commands. */
  createdByKeyId: string | null;
}

/** The key that `create` and `replace` make, at `context.nowMs`. */
export function toMadeKey(accountId: string, { hash: _, ...key }: NewApiKey, nowMs: number): ApiKey {
  const unused = { lastUsedAt: null, requests: 0, replacedByKeyId: null, replacedAt: null };
  return { ...key, accountId, scopes: [...key.scopes], ...unused, createdAt: nowMs };
}

export interface KeyUse {
  keyId: string;
  /** Management calls since the last report; 0 if it was used for other calls only. */
  requests: number;
  lastUsedAt: number;
}

/** Only what a check of a key needs: every field costs time. */
export interface FoundKey {
  keyId: string;
  scopes: readonly Scope[];
  expiresAt: number | null;
  account: Pick<Account, "id" | "plan">;
  /** Of the account. */
  suspendedAt: number | null;
  /** Whether the account has an enabled webhook. */
  hasWebhooks: boolean;
}

/** What becomes of a key's right to speak for a companion. */
export interface CallerRight {
  /** Of the key. The caller checks it. */
  expiresAt: number | null;
  /** Whether the key's account has the companion, and it is enabled. */
  hasCompanion: boolean;
  spending: SpendingState;
}

/** A key that a rotation replaces. */
export interface Replacement {
  keyId: string;
  /** When the old key becomes invalid, unless it expires earlier. `context.nowMs` revokes it immediately. */
  endsAt: number;
}

/** Enough of a key to identify one that has just ended. */
export type EndedKey = Pick<ApiKey, "id" | "name" | "start" | "lastFour">;

/**
 * The line of a key: itself, the keys that it created, those that they created, and so on. A key never outlives the one
 * that created it: any end of a key ends its whole line in the same transaction. Each key gets its own audit entry,
 * whose id comes from `makeAuditId`.
 *
 * A successor is the exception: the key that one of the line makes to replace itself, or a key above it. It is created by
 * the key that asked for it, goes on when the rotation ends that one, and so outlives it. What ends a line spares the
 * successors in it, and their lines, if one of the line asks for it (a key that ends its predecessor early must not end
 * itself), or if the key has expired already. Otherwise they end, too: who revokes a leaked key in its grace revokes what
 * a thief has replaced it by.
 */
export interface ApiKeyStore {
  /**
   * Rejects with `conflict` if the key of `createdByKeyId` is no longer a valid key of the account, or ends before the
   * new one would. Audit: `key.create`.
   */
  create(accountId: string, key: NewApiKey, context: WriteContext): Promise<ApiKey>;
  /**
   * Does `create`, and in the same transaction marks the old key as replaced and ends its line: revoked if `endsAt` has
   * come (audit: `key.revoke` for each), otherwise set to expire then, unless it expires earlier (audit: `key.replace`
   * for the key, `key.expire` for others). Budgets on the old key are on the new one from then on. Rejects with
   * `invalid_request` naming `replaces` if the account has no such active key. The creating key may be in the old one's
   * line, or that key itself: the new one is a successor then.
   */
  replace(
    accountId: string,
    old: Replacement,
    key: NewApiKey,
    context: WriteContext,
    makeAuditId: () => string,
  ): Promise<ApiKey>;
  /**
   * The key with this hash and its account, or null if unknown or revoked. One indexed lookup, never cached: a key that
   * any process revokes is invalid for the next call. The caller checks expiry and suspension.
   */
  findByHash(hash: Uint8Array): Promise<FoundKey | null>;
  /**
   * Checked repeatedly while a reply to the key's call is running. Null if the key is unknown or revoked, or its account
   * is suspended. Never cached.
   */
  checkCaller(keyId: string, companionId: string): Promise<CallerRight | null>;
  /** Keys that are not revoked, newest first. */
  list(accountId: string): Promise<ApiKey[]>;
  /**
   * Revokes the key's line, and resolves with the revoked keys, the key itself first. The one that asks for it is the
   * context's actor. Empty if it is absent or already revoked. Audit: `key.revoke` for each.
   */
  revoke(accountId: string, keyId: string, context: WriteContext, makeAuditId: () => string): Promise<EndedKey[]>;
  /** Adds to the counts of many keys in one commit, and to the day's usage as `requests`. Unknown ids are ignored. */
  recordUses(uses: readonly KeyUse[], day: string): Promise<void>;
}

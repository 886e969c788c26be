/** API keys: found by their hash alone, and each in the line of the key that made it. */
import type { Account, ApiKey, Scope } from "../../domain/account.ts";
import type { WriteContext } from "./write-context.ts";

export interface NewApiKey {
  id: string;
  name: string;
  /** First characters of the key, for display. */
  start: string;
  /** Its last four, likewise. */
  lastFour: string;
  /** SHA-256 of the whole key, 32 bytes: the only trace of it. */
  hash: Uint8Array;
  scopes: readonly Scope[];
  expiresAt: number | null;
  /** The key that asked for it; null for the dashboard and for commands. */
  createdByKeyId: string | null;
}

/** The key that `create` and `replace` make, at `context.nowMs`. */
export function toMadeKey(accountId: string, { hash: _, ...key }: NewApiKey, nowMs: number): ApiKey {
  const unused = { lastUsedAt: null, requests: 0, replacedByKeyId: null, replacedAt: null };
  return { ...key, accountId, scopes: [...key.scopes], ...unused, createdAt: nowMs };
}

export interface KeyUse {
  keyId: string;
  /** Calls since the last report. */
  requests: number;
  lastUsedAt: number;
}

/** What a check of a key has to know, and no more: each field is a part of its time. */
export interface FoundKey {
  keyId: string;
  scopes: readonly Scope[];
  expiresAt: number | null;
  account: Pick<Account, "id" | "plan">;
  /** Of the account. */
  suspendedAt: number | null;
}

/** A key that a rotation puts another in the place of. */
export interface Replacement {
  keyId: string;
  /** From when on the old key is refused, unless it ends sooner by itself. `context.nowMs` revokes it. */
  endsAt: number;
}

/** As much of a key as tells which one has just ended. */
export type EndedKey = Pick<ApiKey, "id" | "name" | "start" | "lastFour">;

/**
 * The line of a key: itself, the keys that it made, those that they made, and so on. A key never outlives the one that
 * made it: what ends a key ends its line, in the same transaction, each key with an audit entry of its own, whose id comes
 * from `makeAuditId`.
 */
export interface ApiKeyStore {
  /**
   * Rejects with `conflict` where the key of `createdByKeyId` is no valid one of the account any more, or ends sooner
   * than the new one would. Audit: `key.create`.
   */
  create(accountId: string, key: NewApiKey, context: WriteContext): Promise<ApiKey>;
  /**
   * `create`, and in the same transaction the old key is marked as replaced and its line made to end: revoked where
   * `endsAt` has come (audit: `key.revoke` for each), otherwise given that expiry where it has a later one or none
   * (audit: `key.replace` for the key, `key.expire` for others). Rejects with `invalid_request` naming `replaces` where
   * the account has no such key that is not revoked, or where the key that asks is of that line: the new one would end
   * with it.
   */
  replace(
    accountId: string,
    old: Replacement,
    key: NewApiKey,
    context: WriteContext,
    makeAuditId: () => string,
  ): Promise<ApiKey>;
  /**
   * The key of this hash with its account, or null where unknown or revoked. One indexed lookup, never cached: a key
   * revoked by any process is gone for the next call. Expiry and suspension are the caller's to judge.
   */
  findByHash(hash: Uint8Array): Promise<FoundKey | null>;
  /** Keys that are not revoked, newest first. */
  list(accountId: string): Promise<ApiKey[]>;
  /**
   * Revokes the key's line; resolves with what was revoked, the key itself first. Empty where it is absent or revoked
   * already. Audit: `key.revoke` for each.
   */
  revoke(accountId: string, keyId: string, context: WriteContext, makeAuditId: () => string): Promise<EndedKey[]>;
  /** Adds to the counts of many keys in one commit, and to the day's usage as `requests`. Unknown ids are passed over. */
  recordUses(uses: readonly KeyUse[], day: string): Promise<void>;
}

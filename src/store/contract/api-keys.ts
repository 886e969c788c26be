/** API keys: found by their hash alone. */
import type { Account, ApiKey, Scope } from "../../domain/account.ts";
import type { Awaitable } from "../../lib/awaitable.ts";
import type { WriteContext } from "./write-context.ts";

export interface NewApiKey {
  id: string;
  name: string;
  /** First characters of the key, for display. */
  start: string;
  /** SHA-256 of the whole key, 32 bytes: the only trace of it. */
  hash: Uint8Array;
  scopes: readonly Scope[];
  expiresAt: number | null;
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

export interface ApiKeyStore {
  /** Audit: `key.create`. */
  create(accountId: string, key: NewApiKey, context: WriteContext): Promise<ApiKey>;
  /**
   * The key of this hash with its account, or null where unknown or revoked. One indexed lookup, never cached: a key
   * revoked by any process is gone for the next call. Expiry and suspension are the caller's to judge.
   */
  findByHash(hash: Uint8Array): Awaitable<FoundKey | null>;
  /** Keys that are not revoked, newest first. */
  list(accountId: string): Promise<ApiKey[]>;
  /** False where absent or revoked already. Audit: `key.revoke`. */
  revoke(accountId: string, keyId: string, context: WriteContext): Promise<boolean>;
  /** Adds to the counts of many keys in one commit, and to the day's usage as `requests`. Unknown ids are passed over. */
  recordUses(uses: readonly KeyUse[], day: string): Promise<void>;
}

/**
 * Finds API keys and dashboard sessions in SQLite, without a cache, on every management call; and notes their last
 * use.
 */
import type { Plan } from "../../domain/account.ts";
import { decodeScopes, type KeyLookups } from "../store-shared/scripts/api-keys.ts";
import type { FoundSession, RecordLastUses, SessionLookup } from "../store-shared/scripts/sessions.ts";
import type { SqliteEngine } from "./engine.ts";
import { hasWebhooks } from "./events.ts";
import { mapColumns } from "./rows/columns.ts";
import { type SpendingStateRow, spendingState } from "./spending-ledger.ts";
import { tables } from "./tables.ts";
import type { UsageWriter } from "./usage-writer.ts";

interface FoundRow {
  id: string;
  scopes: string;
  expires_at: number | null;
  account_id: string;
  plan: Plan;
  suspended_at: number | null;
  has_webhooks: number;
}

export const apiKeyQueries = {
  findByHash: `SELECT k.id, k.scopes, k.expires_at, a.id AS account_id, a.plan, a.suspended_at,
       ${hasWebhooks("a.id")} AS has_webhooks
     FROM api_keys k JOIN accounts a ON a.number = k.account_number WHERE k.hash = ? AND k.revoked_at IS NULL`,
  checkCaller: `SELECT k.expires_at AS expiresAt,
       EXISTS (SELECT 1 FROM companions c WHERE c.id = ? AND c.account_id = a.id AND c.enabled = 1) AS hasCompanion,
       ${spendingState("a.id")}
     FROM api_keys k JOIN accounts a ON a.number = k.account_number
     WHERE k.id = ? AND k.revoked_at IS NULL AND a.suspended_at IS NULL`,
};

export function createKeyLookups(engine: SqliteEngine, usage: UsageWriter): KeyLookups {
  const selectByHash = engine.query<FoundRow, [Uint8Array]>(apiKeyQueries.findByHash);
  const selectRight = engine.query<
    SpendingStateRow & { expiresAt: number | null; hasCompanion: number },
    [string, string]
  >(apiKeyQueries.checkCaller);
  const addUse = engine.query<{ account_id: string }, [number, number, string]>(
    `UPDATE api_keys SET requests = requests + ?, ${setLastUse}
     WHERE id = ? RETURNING (SELECT a.id FROM accounts a WHERE a.number = account_number) AS account_id`,
  );

  return {
    encodeHash: (hash) => hash,

    findByHash: (hash) =>
      engine.read(() => {
        const row = selectByHash.get(hash);
        if (row === null) return null;
        const { id: keyId, expires_at: expiresAt, plan, suspended_at: suspendedAt } = row;
        const account = { id: row.account_id, plan };
        const found = { keyId, scopes: decodeScopes(row.scopes), expiresAt, account, suspendedAt };
        return { ...found, hasWebhooks: row.has_webhooks === 1 };
      }),

    checkCaller: (keyId, companionId) =>
      engine.read(() => {
        const row = selectRight.get(companionId, keyId);
        if (row === null) return null;
        const { expiresAt, hasCompanion, isStopped, hasBudgets, hasWebhooks } = row;
        const known = { isStopped: isStopped === 1, hasBudgets: hasBudgets === 1, hasWebhooks: hasWebhooks === 1 };
        return { expiresAt, hasCompanion: hasCompanion === 1, spending: known };
      }),

    recordUses: async (uses, day) => {
      if (uses.length === 0) return;
      await engine.append(() => {
        for (const { keyId, requests, lastUsedAt } of uses) {
          const key = addUse.get(requests, lastUsedAt, keyId);
          if (key === null || requests === 0) continue;
          usage.add({ accountId: key.account_id, companionId: null, keyId, day, answeredBy: null }, { requests });
        }
      });
    },
  };
}

/**
 * Part of an UPDATE, with one parameter: the time of the use. Uses written out of order are seconds apart. A use that
 * is more than a minute earlier is correct all the same: the clock was ahead before.
 */
const setLastUse = `last_used_at = (SELECT iif(last_used_at BETWEEN used_at AND used_at + 60000, last_used_at, used_at)
  FROM (SELECT ? AS used_at))`;

/** Writes last uses: a later one replaces an earlier one. */
export function createLastUses(engine: SqliteEngine): RecordLastUses {
  const updateOf = (table: string) =>
    engine.query<null, [number, string]>(`UPDATE ${table} SET ${setLastUse} WHERE id = ?`);
  const updates = { sessions: updateOf("sessions"), embed_tokens: updateOf("embed_tokens") };
  return async (table, uses) => {
    if (uses.length === 0) return;
    await engine.append(() => {
      for (const { id, lastUsedAt } of uses) updates[table].run(lastUsedAt, id);
    });
  };
}

/** Finds dashboard sessions in SQLite. */
export function createSessionLookup(engine: SqliteEngine): SessionLookup {
  const select = engine.query<FoundSession, [string]>(
    () => `SELECT ${mapColumns(tables.sessions, ["hash"]).select("s")}, a.email, a.plan, a.role, a.suspended_at AS suspendedAt,
       a.totp_confirmed_at AS totpConfirmedAt, a.created_at AS accountCreatedAt
     FROM sessions s JOIN accounts a ON a.id = s.account_id WHERE s.hash = ?`,
  );
  return (hash) => engine.read(() => select.get(hash));
}

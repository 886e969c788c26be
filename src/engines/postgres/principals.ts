/**
 * Finds API keys and dashboard sessions in PostgreSQL, and notes their last use: calls of one turn of the event loop
 * share a query.
 */
import type { CallerRight, FoundKey } from "../../contracts/store/api-keys.ts";
import type { Plan } from "../../domain/account.ts";
import type { SpendingState } from "../../domain/budget.ts";
import { decodeScopes, type KeyLookups } from "../store-shared/scripts/api-keys.ts";
import type { FoundSession, RecordLastUses, SessionLookup } from "../store-shared/scripts/sessions.ts";
import type { PostgresEngine } from "./engine.ts";
import { hasWebhooks } from "./events.ts";
import type { Queries } from "./queries.ts";
import { mapColumns } from "./rows/columns.ts";
import { spendingState } from "./spending-ledger.ts";
import { tables } from "./tables.ts";
import type { UsageWriter } from "./usage-writer.ts";

type RightRow = Omit<CallerRight, "spending"> & SpendingState & { lookupKey: string };

interface FoundRow {
  lookupKey: string;
  id: string;
  scopes: string;
  expiresAt: number | null;
  accountId: string;
  plan: Plan;
  suspendedAt: number | null;
  revokedAt: number | null;
  hasWebhooks: boolean;
}

// Revoked ones too: with a condition on `revoked_at`, PostgreSQL may read the index of all keys that are not, as long as
// it knows nothing of the table.
const selectByHashes = `SELECT k.hash AS "lookupKey", k.id, k.scopes, k.expires_at::float8 AS "expiresAt",
    a.id AS "accountId", a.plan, a.suspended_at::float8 AS "suspendedAt", k.revoked_at::float8 AS "revokedAt",
    ${hasWebhooks("a.id")} AS "hasWebhooks"
  FROM api_keys k JOIN accounts a ON a.number = k.account_number WHERE k.hash = ANY($1::text[])`;
/** By `<key id> <companion id>`. The inner query keeps the index of ids in use, regardless of statistics. */
const selectRights = `SELECT asked.pair AS "lookupKey", k.expires_at::float8 AS "expiresAt",
    EXISTS (SELECT FROM companions c WHERE c.id = split_part(asked.pair, ' ', 2) AND c.account_id = a.id AND c.enabled)
      AS "hasCompanion",
    ${spendingState("a.id")}
  FROM unnest($1::text[]) AS asked (pair) JOIN api_keys k ON k.id = split_part(asked.pair, ' ', 1)
    JOIN accounts a ON a.number = k.account_number
  WHERE k.revoked_at IS NULL AND a.suspended_at IS NULL`;
const addUses = `UPDATE api_keys AS k SET requests = k.requests + u.requests,
    last_used_at = ${laterUse("k.last_used_at", "u.used_at")}
  FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS u (id, requests, used_at), accounts a
  WHERE k.id = u.id AND a.number = k.account_number
  RETURNING a.id AS "accountId", k.id AS "keyId", u.requests::float8 AS requests`;

export function createKeyLookups(engine: PostgresEngine, usage: UsageWriter): KeyLookups {
  const lookup = engine.lookup<FoundRow>(selectByHashes);
  const findRight = engine.lookup<RightRow, CallerRight>(selectRights, {
    read: ({ expiresAt, hasCompanion, isStopped, hasBudgets, hasWebhooks }) => {
      return { expiresAt, hasCompanion, spending: { isStopped, hasBudgets, hasWebhooks } };
    },
  });

  return {
    encodeHash: toHex,

    async findByHash(hash) {
      const row = await lookup(toHex(hash));
      return row === null || row.revokedAt !== null ? null : toFoundKey(row);
    },

    checkCaller: (keyId, companionId) => findRight(`${keyId} ${companionId}`),

    async recordUses(uses, day) {
      if (uses.length === 0) return;
      const ids = uses.map(({ keyId }) => keyId);
      const counts = [uses.map(({ requests }) => requests), uses.map(({ lastUsedAt }) => lastUsedAt)];
      await engine.write(async (transaction) => {
        const [, used] = await Promise.all([
          lockRows(transaction, "api_keys", ids),
          transaction.all<{ accountId: string; keyId: string; requests: number }>(addUses, [ids, ...counts]),
        ]);
        const additions = used
          .filter(({ requests }) => requests > 0)
          .map((use) => ({ ...use, companionId: null, answeredBy: null, day }));
        await usage.add(transaction, additions);
      });
    },
  };
}

function toHex(hash: Uint8Array): string {
  return Buffer.from(hash).toString("hex");
}

function toFoundKey({ id, scopes, accountId, plan, expiresAt, suspendedAt, hasWebhooks }: FoundRow): FoundKey {
  const account = { id: accountId, plan };
  return { keyId: id, scopes: decodeScopes(scopes), expiresAt, account, suspendedAt, hasWebhooks };
}

/**
 * The new `last_used_at` of a row. Uses written out of order are seconds apart, also those of several servers. A use
 * that is more than a minute earlier is correct all the same: the clock was ahead before.
 */
function laterUse(stored: string, used: string): string {
  return `CASE WHEN ${stored} BETWEEN ${used} AND ${used} + 60000 THEN ${stored} ELSE ${used} END`;
}

/** Locks the rows of these ids in one order: two servers that write the same rows wait for each other, not in a circle. */
function lockRows(transaction: Queries, table: string, ids: readonly string[]): Promise<number> {
  return transaction.run(`SELECT 1 FROM ${table} WHERE id = ANY($1::text[]) ORDER BY id FOR NO KEY UPDATE`, [ids]);
}

/** A later use replaces an earlier one. */
export function createLastUses(engine: PostgresEngine): RecordLastUses {
  return async (table, uses) => {
    if (uses.length === 0) return;
    const ids = uses.map(({ id }) => id);
    const times = uses.map(({ lastUsedAt }) => lastUsedAt);
    const update = `UPDATE ${table} AS t SET last_used_at = ${laterUse("t.last_used_at", "u.used_at")}
      FROM unnest($1::text[], $2::bigint[]) AS u (id, used_at) WHERE t.id = u.id`;
    await engine.write((transaction) =>
      Promise.all([lockRows(transaction, table, ids), transaction.run(update, [ids, times])]),
    );
  };
}

const selectSessions = `SELECT s.hash AS "lookupKey", ${mapColumns(tables.sessions, ["hash"]).select("s")}, a.email, a.plan, a.role,
    a.suspended_at::float8 AS "suspendedAt", a.totp_confirmed_at::float8 AS "totpConfirmedAt",
    a.created_at::float8 AS "accountCreatedAt"
  FROM sessions s JOIN accounts a ON a.id = s.account_id WHERE s.hash = ANY($1::text[])`;

/** Finds dashboard sessions in PostgreSQL: requests of one turn of the event loop share a query. */
export function createSessionLookup(engine: PostgresEngine): SessionLookup {
  return engine.lookup<FoundSession & { lookupKey: string }, FoundSession>(selectSessions, {
    read: ({ lookupKey: _, ...found }) => found,
  });
}

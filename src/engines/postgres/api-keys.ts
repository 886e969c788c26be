/** Finds API keys in PostgreSQL, without a cache: calls of one turn of the event loop share a query. */
import type { CallerRight, FoundKey } from "../../contracts/store/api-keys.ts";
import type { Plan } from "../../domain/account.ts";
import type { SpendingState } from "../../domain/budget.ts";
import { decodeScopes } from "../store-shared/rows/scope-letters.ts";
import type { KeyLookups } from "../store-shared/scripts/api-keys.ts";
import type { PostgresEngine } from "./engine.ts";
import { hasWebhooks } from "./events.ts";
import { laterUse, lockRows } from "./last-use.ts";
import { spendingState } from "./spending-state.ts";
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
/** By `<key id> <companion id>`. The inner query keeps the index of ids in use, whatever the planner knows of the table. */
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

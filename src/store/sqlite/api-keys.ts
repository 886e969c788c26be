/** API keys in SQLite, read without a cache on every management call. */
import type { ApiKey, Plan } from "../../domain/account.ts";
import { type ApiKeyStore, type FoundKey, type NewApiKey, toMadeKey } from "../contract/api-keys.ts";
import { describeMadeKey, listEnding, requireReplaceable, toEnd } from "../rows/key-lines.ts";
import { decodeScopes, encodeScopes } from "../rows/scope-letters.ts";
import type { SqliteEngine } from "./engine.ts";
import { createKeyLines } from "./key-lines.ts";
import { setLastUse } from "./last-use.ts";
import type { StoreParts } from "./parts.ts";
import { mapColumns, type StoredRow } from "./rows/columns.ts";
import { apiKeys } from "./schema/clustered.ts";
import { type SpendingStateRow, spendingState } from "./spending-state.ts";

interface FoundRow {
  id: string;
  scopes: string;
  expires_at: number | null;
  account_id: string;
  plan: Plan;
  suspended_at: number | null;
}

const keyColumns = mapColumns(apiKeys, ["hash", "accountNumber", "revokedAt", "replacesKeyId"]);

type ListedRow = Omit<StoredRow<typeof apiKeys>, "hash" | "accountNumber" | "revokedAt" | "replacesKeyId">;

export const apiKeyQueries = {
  findByHash: `SELECT k.id, k.scopes, k.expires_at, a.id AS account_id, a.plan, a.suspended_at
     FROM api_keys k JOIN accounts a ON a.number = k.account_number WHERE k.hash = ? AND k.revoked_at IS NULL`,
  checkCaller: `SELECT k.expires_at AS expiresAt,
       EXISTS (SELECT 1 FROM companions c WHERE c.id = ? AND c.account_id = a.id AND c.enabled = 1) AS hasCompanion,
       ${spendingState("a.id")}
     FROM api_keys k JOIN accounts a ON a.number = k.account_number
     WHERE k.id = ? AND k.revoked_at IS NULL AND a.suspended_at IS NULL`,
};

export function createApiKeyStore(
  engine: SqliteEngine,
  { changes, holdings, spending, usage }: StoreParts,
): ApiKeyStore {
  const lines = createKeyLines(engine, changes);
  const selectByHash = engine.query<FoundRow, [Uint8Array]>(apiKeyQueries.findByHash);
  const selectRight = engine.query<
    SpendingStateRow & { expiresAt: number | null; hasCompanion: number },
    [string, string]
  >(apiKeyQueries.checkCaller);
  const selectOfAccount = engine.query<ListedRow, [string]>(
    () =>
      `SELECT ${keyColumns.select("k")} FROM api_keys k
       WHERE k.account_number = (SELECT number FROM accounts WHERE id = ?) AND k.revoked_at IS NULL
       ORDER BY k.created_at DESC, k.id DESC`,
  );
  const insert = keyColumns.createInsert(engine);
  const addUse = engine.query<{ account_id: string }, [number, number, string]>(
    `UPDATE api_keys SET requests = requests + ?, ${setLastUse}
     WHERE id = ? RETURNING (SELECT a.id FROM accounts a WHERE a.number = account_number) AS account_id`,
  );

  function create(accountNumber: number, key: NewApiKey, made: ApiKey, replacesKeyId: string | null): void {
    lines.requireMaker(accountNumber, key, made.createdAt);
    const scopes = encodeScopes(made.scopes);
    insert({ ...made, hash: key.hash, accountNumber, scopes, revokedAt: null, replacesKeyId });
  }

  return {
    create: (accountId, key, context) =>
      engine.write(() => {
        const made = toMadeKey(accountId, key, context.nowMs);
        create(changes.requireAccount(accountId), key, made, null);
        holdings.checkNewKey(accountId, context);
        changes.record(context, describeMadeKey(made, {}));
        return made;
      }),

    replace: (accountId, old, key, context, makeAuditId) =>
      engine.write(() => {
        const accountNumber = changes.requireAccount(accountId);
        const made = toMadeKey(accountId, key, context.nowMs);
        const { keyId } = old;
        const line = lines.select(accountNumber, keyId);
        requireReplaceable(line);
        const { nowMs } = context;
        const ending = listEnding(line, { keyId, askerId: key.createdByKeyId, nowMs });
        create(accountNumber, key, made, keyId);
        lines.replace({ accountId, accountNumber, context, makeAuditId }, old, ending, made.id);
        const moved = spending.moveKey(accountId, keyId, made.id, nowMs);
        holdings.checkNewKey(accountId, context);
        changes.record(context, describeMadeKey(made, { replaces: keyId, ...(moved > 0 && { budgets_moved: moved }) }));
        return made;
      }),

    findByHash: (hash) =>
      engine.read(() => {
        const row = selectByHash.get(hash);
        return row === null ? null : toFoundKey(row);
      }),

    checkCaller: (keyId, companionId) =>
      engine.read(() => {
        const row = selectRight.get(companionId, keyId);
        if (row === null) return null;
        const { expiresAt, hasCompanion, isStopped, hasBudgets } = row;
        const spending = { isStopped: isStopped === 1, hasBudgets: hasBudgets === 1 };
        return { expiresAt, hasCompanion: hasCompanion === 1, spending };
      }),

    list: (accountId) =>
      engine.read(() =>
        selectOfAccount.all(accountId).map((row) => ({ ...row, accountId, scopes: decodeScopes(row.scopes) })),
      ),

    revoke: (accountId, keyId, context, makeAuditId) =>
      engine.write(() => {
        const accountNumber = changes.findAccountNumber(accountId);
        if (accountNumber === null) return [];
        const ending = listEnding(lines.select(accountNumber, keyId), toEnd(keyId, context));
        return lines.revoke({ accountId, accountNumber, context, makeAuditId }, keyId, ending);
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

function toFoundKey(row: FoundRow): FoundKey {
  return {
    keyId: row.id,
    scopes: decodeScopes(row.scopes),
    expiresAt: row.expires_at,
    account: { id: row.account_id, plan: row.plan },
    suspendedAt: row.suspended_at,
  };
}

/** API keys in SQLite: checked uncached on every management call. */
import { and, desc, eq, isNull } from "drizzle-orm";
import type { Plan, Role, Scope } from "../../domain/account.ts";
import { later } from "../../lib/later.ts";
import type { ApiKeyStore } from "../contract/api-keys.ts";
import type { ChangeRecorder } from "./changes.ts";
import type { SqliteEngine } from "./engine.ts";
import { setLastUse } from "./last-use.ts";
import { apiKeys } from "./schema/accounts.ts";
import type { UsageWriter } from "./usage-writer.ts";

interface KeyRow {
  id: string;
  account_id: string;
  name: string;
  start: string;
  scopes: string;
  expires_at: number | null;
  last_used_at: number | null;
  requests: number;
  created_at: number;
  email: string;
  plan: Plan;
  role: Role;
  suspended_at: number | null;
  account_created_at: number;
}

const keyColumns = later(() => ({
  id: apiKeys.id,
  accountId: apiKeys.accountId,
  name: apiKeys.name,
  start: apiKeys.start,
  scopes: apiKeys.scopes,
  expiresAt: apiKeys.expiresAt,
  lastUsedAt: apiKeys.lastUsedAt,
  requests: apiKeys.requests,
  createdAt: apiKeys.createdAt,
}));

export function createApiKeyStore(engine: SqliteEngine, changes: ChangeRecorder, usage: UsageWriter): ApiKeyStore {
  const { orm } = engine;
  const selectByHash = engine.query<KeyRow, [string]>(
    `SELECT k.id, k.account_id, k.name, k.start, k.scopes, k.expires_at, k.last_used_at, k.requests, k.created_at,
       a.email, a.plan, a.role, a.suspended_at, a.created_at AS account_created_at
     FROM api_keys k JOIN accounts a ON a.id = k.account_id WHERE k.hash = ? AND k.revoked_at IS NULL`,
  );
  const addUse = engine.query<{ account_id: string }, [number, number, string]>(
    `UPDATE api_keys SET requests = requests + ?, ${setLastUse}
     WHERE id = ? RETURNING account_id`,
  );

  return {
    create: (accountId, key, context) =>
      engine.write(() => {
        changes.requireAccount(accountId);
        const { id, name, start, hash, expiresAt } = key;
        const scopes = [...key.scopes];
        const made = {
          id,
          accountId,
          name,
          start,
          scopes,
          expiresAt,
          lastUsedAt: null,
          requests: 0,
          createdAt: context.nowMs,
        };
        orm
          .insert(apiKeys)
          .values({ ...made, hash })
          .run();
        const details = { name, start, scopes };
        changes.record(context, { accountId, action: "key.create", targetId: id, details }, made);
        return made;
      }),

    findByHash: (hash) =>
      engine.read(() => {
        const row = selectByHash.get(hash);
        if (row === null) return null;
        return {
          key: {
            id: row.id,
            accountId: row.account_id,
            name: row.name,
            start: row.start,
            scopes: JSON.parse(row.scopes) as Scope[],
            expiresAt: row.expires_at,
            lastUsedAt: row.last_used_at,
            requests: row.requests,
            createdAt: row.created_at,
          },
          account: {
            id: row.account_id,
            email: row.email,
            plan: row.plan,
            role: row.role,
            suspendedAt: row.suspended_at,
            createdAt: row.account_created_at,
          },
        };
      }),

    list: (accountId) =>
      engine.read(() =>
        orm
          .select(keyColumns)
          .from(apiKeys)
          .where(and(eq(apiKeys.accountId, accountId), isNull(apiKeys.revokedAt)))
          .orderBy(desc(apiKeys.createdAt), desc(apiKeys.id))
          .all(),
      ),

    revoke: (accountId, keyId, context) =>
      engine.write(() => {
        const [revoked] = orm
          .update(apiKeys)
          .set({ revokedAt: context.nowMs })
          .where(and(eq(apiKeys.id, keyId), eq(apiKeys.accountId, accountId), isNull(apiKeys.revokedAt)))
          .returning({ name: apiKeys.name, start: apiKeys.start })
          .all();
        if (revoked === undefined) return false;
        changes.record(context, { accountId, action: "key.revoke", targetId: keyId, details: revoked });
        return true;
      }),

    recordUses: async (uses, day) => {
      if (uses.length === 0) return;
      await engine.append(() => {
        for (const { keyId, requests, lastUsedAt } of uses) {
          const key = addUse.get(requests, lastUsedAt, keyId);
          if (key !== null) usage.add({ accountId: key.account_id, companionId: null, keyId, day }, { requests });
        }
      });
    },
  };
}

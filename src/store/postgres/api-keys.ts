/** API keys in PostgreSQL, read without a cache: calls of one turn of the event loop share a query. */
import type { ApiKey, Plan } from "../../domain/account.ts";
import type { SpendingState } from "../../domain/budget.ts";
import { type ApiKeyStore, type CallerRight, type FoundKey, type NewApiKey, toMadeKey } from "../contract/api-keys.ts";
import type { WriteContext } from "../contract/write-context.ts";
import { describeMadeKey, listEnding, type MadeKeyFacts, requireReplaceable, toEnd } from "../rows/key-lines.ts";
import { decodeScopes, encodeScopes } from "../rows/scope-letters.ts";
import type { PostgresEngine } from "./engine.ts";
import { createKeyLines } from "./key-lines.ts";
import { laterUse, lockRows } from "./last-use.ts";
import type { StoreParts } from "./parts.ts";
import type { Queries } from "./queries.ts";
import { mapColumns } from "./rows/columns.ts";
import { apiKeys } from "./schema/accounts.ts";
import { spendingState } from "./spending-state.ts";

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
}

type ListedRow = Omit<ApiKey, "scopes" | "accountId"> & { scopes: string };

const keyColumns = mapColumns(apiKeys, ["hash", "accountNumber", "revokedAt", "replacesKeyId"]);

// Revoked ones too: with a condition on `revoked_at`, PostgreSQL may read the index of all keys that are not, as long as
// it knows nothing of the table.
const selectByHashes = `SELECT k.hash AS "lookupKey", k.id, k.scopes, k.expires_at::float8 AS "expiresAt",
    a.id AS "accountId", a.plan, a.suspended_at::float8 AS "suspendedAt", k.revoked_at::float8 AS "revokedAt"
  FROM api_keys k JOIN accounts a ON a.number = k.account_number WHERE k.hash = ANY($1::text[])`;
/** By `<key id> <companion id>`. The inner query keeps the index of ids in use, whatever the planner knows of the table. */
const selectRights = `SELECT asked.pair AS "lookupKey", k.expires_at::float8 AS "expiresAt",
    EXISTS (SELECT FROM companions c WHERE c.id = split_part(asked.pair, ' ', 2) AND c.account_id = a.id AND c.enabled)
      AS "hasCompanion",
    ${spendingState("a.id")}
  FROM unnest($1::text[]) AS asked (pair) JOIN api_keys k ON k.id = split_part(asked.pair, ' ', 1)
    JOIN accounts a ON a.number = k.account_number
  WHERE k.revoked_at IS NULL AND a.suspended_at IS NULL`;
const selectOfAccount = `SELECT ${keyColumns.select("k")} FROM api_keys k
  WHERE k.account_number = (SELECT number FROM accounts WHERE id = $1) AND k.revoked_at IS NULL
  ORDER BY k.created_at DESC, k.id DESC`;
const addUses = `UPDATE api_keys AS k SET requests = k.requests + u.requests,
    last_used_at = ${laterUse("k.last_used_at", "u.used_at")}
  FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS u (id, requests, used_at), accounts a
  WHERE k.id = u.id AND a.number = k.account_number
  RETURNING a.id AS "accountId", k.id AS "keyId", u.requests::float8 AS requests`;

export function createApiKeyStore(
  engine: PostgresEngine,
  { changes, holdings, spending, usage }: StoreParts,
): ApiKeyStore {
  const lines = createKeyLines(changes);
  const lookup = engine.lookup<FoundRow>(selectByHashes);
  const findRight = engine.lookup<RightRow, CallerRight>(selectRights, {
    read: ({ expiresAt, hasCompanion, isStopped, hasBudgets }) => {
      return { expiresAt, hasCompanion, spending: { isStopped, hasBudgets } };
    },
  });

  async function create(
    transaction: Queries,
    accountNumber: number,
    key: NewApiKey,
    made: ApiKey,
    replacesKeyId: string | null = null,
  ): Promise<void> {
    await lines.requireMaker(transaction, accountNumber, key, made.createdAt);
    const stored = { hash: toHex(key.hash), scopes: encodeScopes(made.scopes), revokedAt: null, replacesKeyId };
    await keyColumns.insert(transaction, [{ ...made, ...stored, accountNumber }]);
  }

  async function finish(transaction: Queries, context: WriteContext, made: ApiKey, more: MadeKeyFacts) {
    await holdings.checkNewKey(transaction, made.accountId, context);
    await changes.record(transaction, context, describeMadeKey(made, more));
  }

  return {
    create: (accountId, key, context) =>
      engine.change(accountId, async (transaction) => {
        const made = toMadeKey(accountId, key, context.nowMs);
        await create(transaction, await changes.requireAccount(transaction, accountId), key, made);
        await finish(transaction, context, made, {});
        return made;
      }),

    replace: (accountId, old, key, context, makeAuditId) =>
      engine.change(accountId, async (transaction) => {
        const accountNumber = await changes.requireAccount(transaction, accountId);
        const made = toMadeKey(accountId, key, context.nowMs);
        const { keyId } = old;
        const line = await lines.select(transaction, accountNumber, keyId);
        requireReplaceable(line);
        const { nowMs } = context;
        const ending = listEnding(line, { keyId, askerId: key.createdByKeyId, nowMs });
        await create(transaction, accountNumber, key, made, keyId);
        await lines.replace(transaction, { accountId, accountNumber, context, makeAuditId }, old, ending, made.id);
        const moved = await spending.moveKey(transaction, accountId, { keyId, newId: made.id, nowMs });
        await finish(transaction, context, made, { replaces: keyId, ...(moved > 0 && { budgets_moved: moved }) });
        return made;
      }),

    async findByHash(hash) {
      const row = await lookup(toHex(hash));
      return row === null || row.revokedAt !== null ? null : toFoundKey(row);
    },

    checkCaller: (keyId, companionId) => findRight(`${keyId} ${companionId}`),

    async list(accountId) {
      const rows = await engine.quick.all<ListedRow>(selectOfAccount, [accountId]);
      return rows.map((row) => ({ ...row, accountId, scopes: decodeScopes(row.scopes) }));
    },

    revoke: (accountId, keyId, context, makeAuditId) =>
      engine.change(accountId, async (transaction) => {
        const accountNumber = await changes.findAccountNumber(transaction, accountId);
        if (accountNumber === null) return [];
        const line = await lines.select(transaction, accountNumber, keyId);
        const ending = listEnding(line, toEnd(keyId, context));
        return await lines.revoke(transaction, { accountId, accountNumber, context, makeAuditId }, keyId, ending);
      }),

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

function toFoundKey({ id, scopes, expiresAt, accountId, plan, suspendedAt }: FoundRow): FoundKey {
  return { keyId: id, scopes: decodeScopes(scopes), expiresAt, account: { id: accountId, plan }, suspendedAt };
}

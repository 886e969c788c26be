/** The keys with which websites sign tokens for their visitors, in PostgreSQL, read without a cache. */
import { mostVisitorKeys } from "../../domain/visitor.ts";
import type { VisitorKey, VisitorKeyStore } from "../contract/visitor-keys.ts";
import type { WriteContext } from "../contract/write-context.ts";
import { tooManyVisitorKeys } from "../rows/refusals.ts";
import type { PostgresEngine } from "./engine.ts";
import type { StoreParts } from "./parts.ts";
import type { Queries } from "./queries.ts";
import { mapColumns } from "./rows/columns.ts";
import { visitorKeys } from "./schema/accounts.ts";

/** Conversations per commit while what is sealed is deleted: some ten milliseconds of work. */
const conversationsPerCommit = 1_000;

type KeyFacts = Pick<VisitorKey, "id" | "name" | "algorithm">;

interface Position {
  createdAt: number;
  id: string;
}

export const visitorKeyQueries = {
  // One row for each account, since requests share the query; the keys in it are few.
  list: `SELECT a.id AS "lookupKey", (
      SELECT json_agg(json_build_object('id', k.id, 'name', k.name, 'algorithm', k.algorithm, 'sealed', k.sealed,
        'createdAt', k.created_at) ORDER BY k.created_at DESC, k.id DESC)::text
      FROM visitor_keys k WHERE k.account_id = a.id AND k.sealed IS NOT NULL
    ) AS keys
    FROM unnest($1::text[]) AS a (id)`,
};

const keyColumns = mapColumns(visitorKeys);
const countLive = "SELECT count(*)::int AS live FROM visitor_keys WHERE account_id = $1 AND sealed IS NOT NULL";
const revokeOne = `UPDATE visitor_keys SET sealed = NULL WHERE account_id = $1 AND id = $2 AND sealed IS NOT NULL
  RETURNING id, name, algorithm`;
/** One is enough to tell that the account has had keys; the list would read past all of them. */
const forgetOthers = "DELETE FROM visitor_keys WHERE account_id = $1 AND id <> $2 AND sealed IS NULL";
const selectHolders = `SELECT a.email FROM accounts a WHERE a.id IN (SELECT account_id FROM visitor_keys)
  ORDER BY a.number LIMIT $1`;
const forgetSome = `WITH next AS MATERIALIZED (
    SELECT number, created_at, id FROM conversations
    WHERE account_id = $1 AND (created_at, id) > ($2, $3) ORDER BY created_at, id LIMIT ${conversationsPerCommit}
  ), forgotten AS (
    UPDATE conversations c SET sealed_visitor = NULL FROM next
    WHERE c.number = next.number AND c.sealed_visitor IS NOT NULL
  )
  SELECT created_at::float8 AS "createdAt", id FROM next ORDER BY created_at DESC, id DESC LIMIT 1`;
const forgetCallers =
  "UPDATE voice_sessions SET sealed_visitor = NULL WHERE account_id = $1 AND sealed_visitor IS NOT NULL";

export function createVisitorKeyStore(engine: PostgresEngine, { changes }: StoreParts): VisitorKeyStore {
  const lookup = engine.lookup<{ lookupKey: string; keys: string | null }, VisitorKey[]>(visitorKeyQueries.list, {
    read: ({ keys }) => (keys === null ? [] : JSON.parse(keys)),
  });

  async function record(
    transaction: Queries,
    context: WriteContext,
    accountId: string,
    { action, key }: { action: string; key: KeyFacts },
  ): Promise<void> {
    const { id, name, algorithm } = key;
    await changes.record(transaction, context, { accountId, action, targetId: id, details: { name, algorithm } });
  }

  return {
    create: (accountId, key, context) =>
      engine.change(accountId, async (transaction) => {
        await changes.requireAccount(transaction, accountId);
        const row = await transaction.get<{ live: number }>(countLive, [accountId]);
        if (row === null || row.live >= mostVisitorKeys) throw tooManyVisitorKeys();
        await keyColumns.insert(transaction, [{ ...key, accountId }]);
        await record(transaction, context, accountId, { action: "visitor_key.create", key });
      }),

    list: async (accountId) => [...((await lookup(accountId)) ?? [])],

    revoke: (accountId, id, context) =>
      engine.change(accountId, async (transaction) => {
        const key = await transaction.get<KeyFacts>(revokeOne, [accountId, id]);
        if (key === null) return false;
        await transaction.run(forgetOthers, [accountId, id]);
        await record(transaction, context, accountId, { action: "visitor_key.revoke", key });
        return true;
      }),

    listHolders: async (limit) => {
      const rows = await engine.heavy.all<{ email: string }>(selectHolders, [limit]);
      return rows.map(({ email }) => email);
    },

    reset: async (accountId, context) => {
      // The keys last: as long as one is there, the account is still among those that hold sealed text.
      for (let after: Position | null = { createdAt: -1, id: "" }; after !== null; ) {
        const { createdAt, id }: Position = after;
        after = await engine.writeHeavy((transaction) =>
          transaction.get<Position>(forgetSome, [accountId, createdAt, id]),
        );
      }
      return await engine.changeHeavy(accountId, async (transaction) => {
        if ((await changes.findAccountNumber(transaction, accountId)) === null) return false;
        await transaction.run(forgetCallers, [accountId]);
        await transaction.run("DELETE FROM visitor_keys WHERE account_id = $1", [accountId]);
        const change = { accountId, action: "visitor_key.reset", targetId: accountId, details: {} };
        await changes.record(transaction, context, change);
        return true;
      });
    },
  };
}

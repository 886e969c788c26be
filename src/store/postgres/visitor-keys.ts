/** The keys with which websites sign tokens for their visitors, in PostgreSQL, read without a cache. */
import { toPage } from "../contract/page.ts";
import type { VisitorKey, VisitorKeyStore } from "../contract/visitor-keys.ts";
import type { WriteContext } from "../contract/write-context.ts";
import { beforeAll } from "../rows/budgets.ts";
import {
  describeVisitorKey,
  indexFacts,
  indexFilter,
  type LiveKeys,
  mostCandidates,
  noKeys,
  pickOnly,
  requireRoomForKey,
  type VisitorKeyFacts,
} from "../rows/visitor-keys.ts";
import type { PostgresEngine } from "./engine.ts";
import type { StoreParts } from "./parts.ts";
import type { Queries } from "./queries.ts";
import { mapColumns } from "./rows/columns.ts";
import { visitorKeys } from "./schema/accounts.ts";

/** Conversations per commit while what is sealed is deleted: some ten milliseconds of work. */
const conversationsPerCommit = 1_000;

interface Position {
  createdAt: number;
  id: string;
}

const keyColumns = mapColumns(visitorKeys, ["accountId", "fact", "filterHash"]);
const read = keyColumns.createReader();
const toKey = (row: object) => read(row) as VisitorKey;
const shown = keyColumns.select("k");

export const visitorKeyQueries = {
  /** By `<account id> <key id>`. */
  find: `SELECT a.pair AS "lookupKey", k.* FROM unnest($1::text[]) AS a (pair) CROSS JOIN LATERAL (
      SELECT ${shown}, k.account_id FROM visitor_keys k WHERE k.id = split_part(a.pair, ' ', 2) AND k.sealed IS NOT NULL OFFSET 0
    ) AS k WHERE k.account_id = split_part(a.pair, ' ', 1)`,
  // An index lookup for each fact of the companion, however many keys the account has.
  candidates: `SELECT k.* FROM json_array_elements_text($1::text::json) AS f (fact) CROSS JOIN LATERAL (
      SELECT ${shown} FROM visitor_keys k WHERE k.fact = f.fact AND k.sealed IS NOT NULL OFFSET 0
    ) AS k LIMIT ${mostCandidates}`,
  newest: `SELECT ${shown} FROM visitor_keys k
    WHERE k.account_id = $1 AND k.id < $2 AND k.sealed IS NOT NULL ORDER BY k.id DESC LIMIT $3`,
  oldest: `SELECT ${shown} FROM visitor_keys k
    WHERE k.account_id = $1 AND k.id > $2 AND k.sealed IS NOT NULL ORDER BY k.id LIMIT $3`,
};

const count = `SELECT (SELECT count(*) FROM visitor_keys WHERE account_id = $1)::int AS "ofAccount",
  (SELECT count(*) FROM visitor_keys WHERE filter_hash = $2 AND sealed IS NOT NULL)::int AS "ofFilter"`;
const forgetRevoked = "DELETE FROM visitor_keys WHERE account_id = $1 AND sealed IS NULL";
const selectRarest = `SELECT f.fact FROM json_array_elements_text($1::text::json) AS f (fact) ORDER BY
  (SELECT count(*) FROM visitor_keys k WHERE k.fact = f.fact AND k.sealed IS NOT NULL) LIMIT 1`;
/** A revoked key stays only where there is no other, to tell that the account has had keys. */
const removeOne = `DELETE FROM visitor_keys k WHERE k.id = $2 AND k.account_id = $1 AND k.sealed IS NOT NULL
  AND EXISTS (SELECT FROM visitor_keys o WHERE o.account_id = $1 AND o.id <> $2) RETURNING ${shown}`;
const revokeOne = `UPDATE visitor_keys k SET sealed = NULL WHERE k.id = $2 AND k.account_id = $1 AND k.sealed IS NOT NULL
  RETURNING ${shown}`;
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
  const lookup = engine.lookup<{ lookupKey: string; account_id: string }, VisitorKey>(visitorKeyQueries.find, {
    read: ({ lookupKey: _, account_id: __, ...row }) => toKey(row),
  });

  async function record(
    transaction: Queries,
    context: WriteContext,
    accountId: string,
    { action, key }: { action: string; key: VisitorKeyFacts },
  ): Promise<void> {
    const details = describeVisitorKey(key);
    await changes.record(transaction, context, { accountId, action, targetId: key.id, details });
  }

  return {
    create: (accountId, key, context) =>
      engine.change(accountId, async (transaction) => {
        await changes.requireAccount(transaction, accountId);
        const { facts, filterHash } = indexFilter(accountId, key);
        const live = (await transaction.get<LiveKeys>(count, [accountId, filterHash])) ?? noKeys;
        requireRoomForKey(live);
        if (live.ofAccount === 1) await transaction.run(forgetRevoked, [accountId]);
        const rarest = await transaction.get<{ fact: string }>(selectRarest, [facts]);
        await keyColumns.insert(transaction, [{ ...key, accountId, fact: rarest?.fact ?? "", filterHash }]);
        await record(transaction, context, accountId, { action: "visitor_key.create", key });
      }),

    list: async (accountId, { limit, afterId, order = "desc" }) => {
      const text = order === "asc" ? visitorKeyQueries.oldest : visitorKeyQueries.newest;
      const rows = await engine.quick.all<object>(text, [accountId, afterId ?? beforeAll[order], limit + 1]);
      return toPage(rows.map(toKey), limit);
    },

    find: async (accountId, id) => {
      const found = await lookup(`${accountId} ${id}`);
      // The database reads the id up to the next space.
      return found?.id === id ? found : null;
    },

    findOnly: async (accountId, facts) => {
      const rows = await engine.quick.all<object>(visitorKeyQueries.candidates, [indexFacts(accountId, facts)]);
      return pickOnly(rows.map(toKey), facts);
    },

    revoke: (accountId, id, context) =>
      engine.change(accountId, async (transaction) => {
        const of = [accountId, id];
        const row = (await transaction.get<object>(removeOne, of)) ?? (await transaction.get<object>(revokeOne, of));
        if (row === null) return false;
        await record(transaction, context, accountId, { action: "visitor_key.revoke", key: toKey(row) });
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

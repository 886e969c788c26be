/** Finds the keys with which websites sign tokens for their visitors, in PostgreSQL, without a cache. */
import type { VisitorKey } from "../../contracts/store/visitor-keys.ts";
import { indexFacts, maxCandidates, pickOnly, type VisitorKeyLookups } from "../store-shared/scripts/visitor-keys.ts";
import type { PostgresEngine } from "./engine.ts";
import { mapColumns } from "./rows/columns.ts";
import { tables } from "./tables.ts";

/** Conversations per commit while what is sealed is deleted: some ten milliseconds of work. */
const conversationsPerCommit = 1_000;

interface Position {
  createdAt: number;
  id: string;
}

const keyColumns = mapColumns(tables.visitorKeys, ["accountId", "fact", "filterHash"]);
const read = keyColumns.createReader();
const toKey = (row: object) => read(row) as VisitorKey;
const shown = keyColumns.select("k");

export const visitorKeyLookupQueries = {
  /** By `<account id> <key id>`. */
  find: `SELECT a.pair AS "lookupKey", k.* FROM unnest($1::text[]) AS a (pair) CROSS JOIN LATERAL (
      SELECT ${shown}, k.account_id FROM visitor_keys k WHERE k.id = split_part(a.pair, ' ', 2) AND k.sealed IS NOT NULL OFFSET 0
    ) AS k WHERE k.account_id = split_part(a.pair, ' ', 1)`,
  // An index lookup for each fact of the companion, however many keys the account has.
  candidates: `SELECT k.* FROM json_array_elements_text($1::text::json) AS f (fact) CROSS JOIN LATERAL (
      SELECT ${shown} FROM visitor_keys k WHERE k.fact = f.fact AND k.sealed IS NOT NULL OFFSET 0
    ) AS k LIMIT ${maxCandidates}`,
};

const forgetSome = `WITH next AS MATERIALIZED (
    SELECT number, created_at, id FROM conversations
    WHERE account_id = $1 AND (created_at, id) > ($2, $3) ORDER BY created_at, id LIMIT ${conversationsPerCommit}
  ), forgotten AS (
    UPDATE conversations c SET sealed_visitor = NULL FROM next
    WHERE c.number = next.number AND c.sealed_visitor IS NOT NULL
  )
  SELECT created_at::float8 AS "createdAt", id FROM next ORDER BY created_at DESC, id DESC LIMIT 1`;

export function createVisitorKeyLookups(engine: PostgresEngine): VisitorKeyLookups {
  const lookup = engine.lookup<{ lookupKey: string; account_id: string }, VisitorKey>(visitorKeyLookupQueries.find, {
    read: ({ lookupKey: _, account_id: __, ...row }) => toKey(row),
  });

  return {
    find: async (accountId, id) => {
      const found = await lookup(`${accountId} ${id}`);
      // The database reads the id up to the next space.
      return found?.id === id ? found : null;
    },

    findOnly: async (accountId, facts) => {
      const rows = await engine.quick.all<object>(visitorKeyLookupQueries.candidates, [
        JSON.stringify(indexFacts(accountId, facts)),
      ]);
      return pickOnly(rows.map(toKey), facts);
    },

    async forgetVisitors(accountId) {
      for (let after: Position | null = { createdAt: -1, id: "" }; after !== null; ) {
        const { createdAt, id }: Position = after;
        after = await engine.writeHeavy((transaction) =>
          transaction.get<Position>(forgetSome, [accountId, createdAt, id]),
        );
      }
    },
  };
}

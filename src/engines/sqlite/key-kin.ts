/** Which keys count in budgets on which, in SQLite. Call it inside a read or a write. */
import type { SqliteEngine } from "./engine.ts";

const places = `UNION SELECT k.id FROM kin JOIN api_keys k ON k.replaces_key_id = kin.id
  UNION SELECT k.replaces_key_id FROM kin JOIN api_keys k ON k.id = kin.id WHERE k.replaces_key_id IS NOT NULL`;

export const keyKinQueries = {
  above: `WITH RECURSIVE kin (id) AS (
      SELECT substr(value, 5) FROM json_each(?) WHERE value LIKE 'key:%' ${places}
      UNION SELECT k.created_by_key_id FROM kin JOIN api_keys k ON k.id = kin.id WHERE k.created_by_key_id IS NOT NULL
    ) SELECT id FROM kin`,
  below: `WITH RECURSIVE kin (id) AS (
      SELECT ? ${places}
      UNION SELECT k.id FROM kin JOIN api_keys k ON k.created_by_key_id = kin.id
    ) SELECT id FROM kin`,
};

export function createKeyKin(engine: SqliteEngine) {
  const selectAny = engine.query<{ one: number }, [string]>(
    "SELECT 1 AS one FROM budgets WHERE account_id = ? AND fact >= 'key:' AND fact < 'key;' LIMIT 1",
  );
  const selectAbove = engine.query<{ id: string }, [string]>(keyKinQueries.above);
  const selectBelow = engine.query<{ id: string }, [string]>(keyKinQueries.below);
  return {
    /** The facts of a call, with those of all keys whose budgets count it. */
    expand(accountId: string, facts: readonly string[]): Set<string> {
      const all = new Set(facts);
      if (selectAny.get(accountId) === null) return all;
      for (const { id } of selectAbove.all(JSON.stringify(facts))) all.add(`key:${id}`);
      return all;
    },

    /** The keys whose calls a budget on this one counts, itself among them. */
    listCounted: (keyId: string): string[] => selectBelow.all(keyId).map(({ id }) => id),
  };
}

/** Writes last uses of many rows at once: a later one replaces an earlier one. */
import type { RecordLastUses } from "../store-shared/scripts/last-use.ts";
import type { PostgresEngine } from "./engine.ts";
import type { Queries } from "./queries.ts";

/**
 * The new `last_used_at` of a row. Uses written out of order are seconds apart, also those of several servers. A use
 * that is more than a minute earlier is correct all the same: the clock was ahead before.
 */
export function laterUse(stored: string, used: string): string {
  return `CASE WHEN ${stored} BETWEEN ${used} AND ${used} + 60000 THEN ${stored} ELSE ${used} END`;
}

/** Locks the rows of these ids in one order: two servers that write the same rows wait for each other, not in a circle. */
export function lockRows(transaction: Queries, table: string, ids: readonly string[]): Promise<number> {
  return transaction.run(`SELECT 1 FROM ${table} WHERE id = ANY($1::text[]) ORDER BY id FOR NO KEY UPDATE`, [ids]);
}

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

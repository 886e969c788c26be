/** Writes last uses: a later one replaces an earlier one. */
import type { RecordLastUses } from "../store-shared/scripts/last-use.ts";
import type { SqliteEngine } from "./engine.ts";

/**
 * Part of an UPDATE, with one parameter: the time of the use. Uses written out of order are seconds apart. A use that
 * is more than a minute earlier is correct all the same: the clock was ahead before.
 */
export const setLastUse = `last_used_at = (SELECT iif(last_used_at BETWEEN used_at AND used_at + 60000, last_used_at, used_at)
  FROM (SELECT ? AS used_at))`;

export function createLastUses(engine: SqliteEngine): RecordLastUses {
  const updateOf = (table: string) =>
    engine.query<null, [number, string]>(`UPDATE ${table} SET ${setLastUse} WHERE id = ?`);
  const updates = { sessions: updateOf("sessions"), embed_tokens: updateOf("embed_tokens") };
  return async (table, uses) => {
    if (uses.length === 0) return;
    await engine.append(() => {
      for (const { id, lastUsedAt } of uses) updates[table].run(lastUsedAt, id);
    });
  };
}

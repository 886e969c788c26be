/** How conversations are deleted, and those past their companion's retention found, in slices. */
import { dayMs } from "../../lib/instant.ts";
import { emptyDeliveries } from "../store-shared/scripts/event-deliveries.ts";
import type { PostgresEngine } from "./engine.ts";
import type { Removals } from "./parts.ts";

/**
 * How conversations are deleted: immediately from all lists, their messages in chunks behind it. `$1` is the time in
 * milliseconds. The statement's count is that of the conversations.
 */
export const deleteConversations = (condition: string) =>
  `WITH gone AS (DELETE FROM conversations WHERE ${condition} RETURNING id, number),
     emptied AS (${emptyDeliveries("conversation_id IN (SELECT id FROM gone)")})
   INSERT INTO removals (kind, target_id, target_number, created_at)
   SELECT 'conversation', id, number, $1::bigint FROM gone ORDER BY number`;

const companionsPerSlice = 500;

interface CompanionRow {
  number: number;
  id: string;
  retentionDays: number;
}

const selectCompanions = `SELECT number::float8 AS number, id, retention_days AS "retentionDays" FROM companions
  WHERE retention_days IS NOT NULL AND (retention_days, number) > ($1, $2) ORDER BY retention_days, number LIMIT $3`;
const selectExpired = `SELECT found.number::float8 AS number, kept.before_ms::float8 AS "beforeMs"
  FROM unnest($1::text[], $2::bigint[]) AS kept (companion_id, before_ms)
    CROSS JOIN LATERAL (SELECT number FROM conversations c
      WHERE c.companion_id = kept.companion_id AND c.created_at < kept.before_ms AND c.updated_at < kept.before_ms
      ORDER BY c.created_at LIMIT $3) AS found
  LIMIT $3`;
// Checked again: a visitor may have returned since it was read. One who is just returning is passed over.
const deleteExpired = deleteConversations(`number IN (SELECT c.number
  FROM unnest($2::bigint[], $3::bigint[]) AS expired (number, before_ms) JOIN conversations c USING (number)
  WHERE c.updated_at < expired.before_ms FOR UPDATE OF c SKIP LOCKED)`);

export function createRetention(engine: PostgresEngine, removals: Removals) {
  return async (nowMs: number, limit: number): Promise<number> => {
    let deleted = 0;
    for (let at = { retentionDays: 0, number: 0 }; deleted < limit; ) {
      const parameters = [at.retentionDays, at.number, companionsPerSlice];
      const companions = await engine.heavy.all<CompanionRow>(selectCompanions, parameters);
      const last = companions.at(-1);
      if (last === undefined) break;
      at = last;
      const ids = companions.map(({ id }) => id);
      const times = companions.map(({ retentionDays }) => nowMs - retentionDays * dayMs);
      const expired = await engine.heavy.all<{ number: number; beforeMs: number }>(selectExpired, [
        ...[ids, times],
        limit - deleted,
      ]);
      if (expired.length === 0) continue;
      const numbers = expired.map(({ number }) => number);
      const before = expired.map(({ beforeMs }) => beforeMs);
      deleted += await engine.writeHeavy((transaction) => transaction.run(deleteExpired, [nowMs, numbers, before]));
    }
    // Their messages are deleted later, in chunks.
    if (deleted > 0) removals.start();
    return deleted;
  };
}

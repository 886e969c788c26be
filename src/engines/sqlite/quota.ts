/** Counts messages and voice sessions of a companion's day. */
import type { SqliteEngine } from "./engine.ts";

export type QuotaKind = "messages" | "voice_sessions";

export type QuotaCounts = ReturnType<typeof createQuotaCounts>;

export function createQuotaCounts(engine: SqliteEngine) {
  // Selecting from companions counts nothing if the companion is deleted.
  const addTo = (kind: QuotaKind) =>
    engine.query<{ total: number }, [string, string]>(
      `INSERT INTO quota_daily (companion_id, day, messages, voice_sessions)
         SELECT id, ?, ${kind === "messages" ? "1, 0" : "0, 1"} FROM companions WHERE id = ?
       ON CONFLICT DO UPDATE SET ${kind} = ${kind} + 1 RETURNING messages + voice_sessions AS total`,
    );
  const add = { messages: addTo("messages"), voice_sessions: addTo("voice_sessions") };
  // Messages admitted before midnight may be counted after it, so yesterday's count stays. So do the last three days,
  // whichever days they are: a clock that is ahead for a while must not reset today's quota.
  const forget = engine.query<null, [string, string, string]>(
    `DELETE FROM quota_daily WHERE companion_id = ? AND day < date(?, '-1 day')
       AND day < (SELECT day FROM quota_daily WHERE companion_id = ? ORDER BY day DESC LIMIT 1 OFFSET 2)`,
  );
  const select = engine.query<Record<QuotaKind, number>, [string, string]>(
    "SELECT messages, voice_sessions FROM quota_daily WHERE companion_id = ? AND day = ?",
  );

  return {
    /** Call it inside a write. */
    add(kind: QuotaKind, companionId: string, day: string): void {
      if (add[kind].get(day, companionId)?.total === 1) forget.run(companionId, day, companionId);
    },

    /** Call it inside a read. */
    count: (kind: QuotaKind, companionId: string, day: string) => select.get(companionId, day)?.[kind] ?? 0,
  };
}

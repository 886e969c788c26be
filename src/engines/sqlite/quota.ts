/** Counts messages and voice sessions of a companion's day, and the messages of verified visitors with a daily limit of their own. */
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

export type VisitorDays = ReturnType<typeof createVisitorDays>;

const thirdNewestDay = `(SELECT max(day) FROM visitor_daily WHERE companion_id = ?1 AND day <
  (SELECT max(day) FROM visitor_daily WHERE companion_id = ?1 AND day <
    (SELECT max(day) FROM visitor_daily WHERE companion_id = ?1)))`;

export const visitorDayQueries = {
  // As many days stay as above. Two for each new row, so that old days shrink faster than new ones grow, and no
  // turn pays for more.
  forgetOld: `DELETE FROM visitor_daily WHERE (companion_id, day, visitor_id) IN
    (SELECT companion_id, day, visitor_id FROM visitor_daily
     WHERE companion_id = ?1 AND day < date(?2, '-1 day') AND day < ${thirdNewestDay} ORDER BY day LIMIT 2)`,
  nextDay: "SELECT min(day) AS day FROM visitor_daily WHERE companion_id = ? AND day > ?",
};

export function createVisitorDays(engine: SqliteEngine) {
  // Selecting from companions counts nothing if the companion is deleted.
  const add = engine.query<{ messages: number }, [string, string, string]>(
    `INSERT INTO visitor_daily (companion_id, day, visitor_id, messages) SELECT id, ?, ?, 1 FROM companions WHERE id = ?
     ON CONFLICT DO UPDATE SET messages = messages + 1 RETURNING messages`,
  );
  const forgetOld = engine.query<null, [string, string]>(visitorDayQueries.forgetOld);
  const select = engine.query<{ messages: number }, [string, string, string]>(
    "SELECT messages FROM visitor_daily WHERE companion_id = ? AND day = ? AND visitor_id = ?",
  );
  const selectNextDay = engine.query<{ day: string | null }, [string, string]>(visitorDayQueries.nextDay);
  const remove = engine.query<null, [string, string, string]>(
    "DELETE FROM visitor_daily WHERE companion_id = ? AND day = ? AND visitor_id = ?",
  );
  const removeSome = engine.query<null, [string, number]>(
    `DELETE FROM visitor_daily WHERE (companion_id, day, visitor_id) IN
       (SELECT companion_id, day, visitor_id FROM visitor_daily WHERE companion_id = ? LIMIT ?)`,
  );

  return {
    /** Call it inside a write. */
    add(companionId: string, visitorId: string, day: string): void {
      if (add.get(day, visitorId, companionId)?.messages === 1) forgetOld.run(companionId, day);
    },

    /** Call it inside a read. */
    count: (companionId: string, visitorId: string, day: string) =>
      select.get(companionId, day, visitorId)?.messages ?? 0,

    /** Call it inside a write: day by day, of which there are few, because no index begins with the visitor. */
    erase(companionId: string, visitorId: string): void {
      for (let day = ""; ; ) {
        const next = selectNextDay.get(companionId, day)?.day ?? null;
        if (next === null) return;
        remove.run(companionId, next, visitorId);
        day = next;
      }
    },

    /** Call it inside a write: deletes up to `limit` rows of the companion and returns how many. */
    removeSome: (companionId: string, limit: number) => removeSome.run(companionId, limit),
  };
}

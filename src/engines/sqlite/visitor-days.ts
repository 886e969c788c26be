/** Counts the messages of verified visitors with a daily limit of their own. */
import type { SqliteEngine } from "./engine.ts";

export type VisitorDays = ReturnType<typeof createVisitorDays>;

const thirdNewestDay = `(SELECT max(day) FROM visitor_daily WHERE companion_id = ?1 AND day <
  (SELECT max(day) FROM visitor_daily WHERE companion_id = ?1 AND day <
    (SELECT max(day) FROM visitor_daily WHERE companion_id = ?1)))`;

export const visitorDayQueries = {
  // As many days stay as in `quota.ts`. Two for each new row, so that old days shrink faster than new ones grow, and no
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

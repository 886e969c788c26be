/** Finds conversations past their companion's retention and deletes them, in slices. */
import { dayMs } from "../../lib/instant.ts";
import { pause } from "../../lib/pause.ts";
import type { SqliteEngine } from "./engine.ts";
import type { Removals } from "./removals.ts";

/** Companions checked before streams get their turn: a millisecond if nothing has expired. */
const companionsPerSlice = 500;

interface CompanionRow {
  number: number;
  id: string;
  retention_days: number;
}

interface ExpiredRow {
  number: number;
  id: string;
  beforeMs: number;
}

export function createRetention(engine: SqliteEngine, removals: Removals) {
  const selectCompanions = engine.query<CompanionRow, [number, number, number]>(
    `SELECT number, id, retention_days FROM companions INDEXED BY companions_retention
     WHERE retention_days IS NOT NULL AND (retention_days, number) > (?, ?) ORDER BY retention_days, number LIMIT ?`,
  );
  const selectExpired = engine.query<{ number: number; id: string }, [string, number, number, number]>(
    `SELECT number, id FROM conversations INDEXED BY conversations_companion
     WHERE companion_id = ? AND created_at < ? AND updated_at < ? ORDER BY created_at LIMIT ?`,
  );
  // Checked again: a visitor may have returned since it was read.
  const deleteExpired = engine.query<null, [number, number]>(
    "DELETE FROM conversations WHERE number = ? AND updated_at < ?",
  );

  function findExpired(companions: readonly CompanionRow[], nowMs: number, limit: number): ExpiredRow[] {
    const expired: ExpiredRow[] = [];
    for (const { id, retention_days } of companions) {
      const beforeMs = nowMs - retention_days * dayMs;
      const rows = selectExpired.all(id, beforeMs, beforeMs, limit - expired.length);
      expired.push(...rows.map((row) => ({ ...row, beforeMs })));
      if (expired.length >= limit) break;
    }
    return expired;
  }

  function deleteAll(expired: readonly ExpiredRow[], nowMs: number): number {
    let deleted = 0;
    for (const { number, id, beforeMs } of expired) {
      if (deleteExpired.run(number, beforeMs) === 0) continue;
      removals.add("conversation", id, number, nowMs);
      deleted++;
    }
    return deleted;
  }

  return async (nowMs: number, limit: number): Promise<number> => {
    let deleted = 0;
    for (let at = { retention_days: 0, number: 0 }; deleted < limit; await pause()) {
      const companions = await engine.read(() =>
        selectCompanions.all(at.retention_days, at.number, companionsPerSlice),
      );
      const last = companions.at(-1);
      if (last === undefined) break;
      at = last;
      const expired = await engine.snapshot(() => findExpired(companions, nowMs, limit - deleted));
      if (expired.length > 0) deleted += await engine.write(() => deleteAll(expired, nowMs));
    }
    // Their messages are deleted later, in chunks.
    if (deleted > 0) removals.start();
    return deleted;
  };
}

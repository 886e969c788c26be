/** Labels of usage: the metadata that a companion had when something was counted. */
import { labelsPerDay } from "../../domain/usage.ts";
import type { SqliteEngine } from "./engine.ts";

interface LabelRow {
  number: number;
  metadata: string;
}

export type UsageLabels = ReturnType<typeof createUsageLabels>;

export function createUsageLabels(engine: SqliteEngine) {
  // Two statements: one with a join takes ten times as long as both, and most companions need only the first.
  const selectMetadata = engine.query<{ metadata: string }, [string]>("SELECT metadata FROM companions WHERE id = ?");
  const selectLatest = engine.query<LabelRow, [string]>(
    "SELECT number, metadata FROM usage_labels WHERE companion_id = ? ORDER BY number DESC LIMIT 1",
  );
  const selectNth = engine.query<{ day: string }, [string, number]>(
    "SELECT day FROM usage_labels WHERE companion_id = ? ORDER BY number DESC LIMIT 1 OFFSET ?",
  );
  const insert = engine.query<{ number: number }, [string, string]>(
    `INSERT INTO usage_labels (account_id, companion_id, metadata, day)
     SELECT account_id, id, metadata, ? FROM companions WHERE id = ? RETURNING number`,
  );

  return {
    /**
     * The label of the companion's metadata as it is now, made for the day if it is new; 0 for none. One that is gone has
     * its last, and so has one with as many as a day may have. Call it inside a write.
     */
    find(companionId: string, day: string): number {
      const metadata = selectMetadata.get(companionId)?.metadata ?? null;
      if (metadata === "{}") return 0;
      const latest = selectLatest.get(companionId);
      if (metadata === null || metadata === latest?.metadata) return latest?.number ?? 0;
      const nth = latest === null ? null : selectNth.get(companionId, labelsPerDay - 1);
      if (latest !== null && nth !== null && nth.day >= day) return latest.number;
      return insert.get(day, companionId)?.number ?? 0;
    },
  };
}

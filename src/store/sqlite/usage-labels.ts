/** Labels of usage: the metadata that a companion had when something was counted. */
import type { SqliteEngine } from "./engine.ts";

interface LabelRow {
  /** Null for a companion that is gone. */
  metadata: string | null;
  /** The companion's latest label. */
  number: number | null;
  labelled: string | null;
}

export type UsageLabels = ReturnType<typeof createUsageLabels>;

export function createUsageLabels(engine: SqliteEngine) {
  const select = engine.query<LabelRow, [string, string]>(
    `SELECT (SELECT metadata FROM companions WHERE id = ?) AS metadata, l.number, l.metadata AS labelled
     FROM (SELECT 1) LEFT JOIN (
       SELECT number, metadata FROM usage_labels WHERE companion_id = ? ORDER BY number DESC LIMIT 1
     ) AS l`,
  );
  const insert = engine.query<{ number: number }, [string]>(
    `INSERT INTO usage_labels (account_id, companion_id, metadata)
     SELECT account_id, id, metadata FROM companions WHERE id = ? RETURNING number`,
  );

  return {
    /**
     * The label of the companion's metadata as it is now, made if it is new; 0 for none. One that is gone has its last.
     * Call it inside a write.
     */
    find(companionId: string): number {
      const row = select.get(companionId, companionId);
      if (row === null || row.metadata === "{}") return 0;
      if (row.metadata === null || row.metadata === row.labelled) return row.number ?? 0;
      return insert.get(companionId)?.number ?? 0;
    },
  };
}

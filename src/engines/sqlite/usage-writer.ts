/** Adds to usage: by day, by month, and by day for the whole account. */
import type { Cost } from "../../domain/money.ts";
import type { FailureKind } from "../../domain/reply-failure.ts";
import { type Answerer, labelsPerDay, type UsageCounts } from "../../domain/usage.ts";
import { counterColumns, counters, type UsageKey } from "../store-shared/rows/usage-counters.ts";
import type { SqliteEngine } from "./engine.ts";

export type UsageWriter = ReturnType<typeof createUsageWriter>;

/** What was just counted for a key of usage. */
export interface CountedUsage {
  accountId: string;
  companionId: string;
  day: string;
  label: number;
  cost: Cost;
}

const noAnswerer: Answerer = { model: "", provider: "" };

export function createUsageWriter(engine: SqliteEngine) {
  const labels = createUsageLabels(engine);
  const columns = Object.values(counterColumns);
  const added = columns.map((name) => `${name} = ${name} + excluded.${name}`).join(", ");
  const addTo = (table: string, keys: readonly string[]) => {
    const names = [...keys, ...columns];
    return engine.query<null, (string | number)[]>(
      `INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})
       ON CONFLICT DO UPDATE SET ${added}`,
    );
  };
  const addDay = addTo("usage_daily", ["account_id", "companion_id", "day", "key_id", "label", "model", "provider"]);
  const addMonth = addTo("usage_monthly", [
    ...["account_id", "companion_id", "month", "key_id"],
    ...["label", "model", "provider"],
  ]);
  const addSum = addTo("usage_account_daily", ["account_id", "day", "key_id", "model", "provider"]);
  const addFailed = engine.query<null, [string, string, string, string]>(
    `INSERT INTO failed_replies (account_id, day, companion_id, kind, replies) VALUES (?, ?, ?, ?, 1)
     ON CONFLICT DO UPDATE SET replies = replies + 1`,
  );

  const watchers = new Set<(counted: CountedUsage) => void>();

  return {
    /** Calls `see` with all that is counted from now on, inside the write, until the returned function is called. */
    watch(see: (counted: CountedUsage) => void): () => void {
      watchers.add(see);
      return () => watchers.delete(see);
    },

    /** Keeps the metadata of a companion that is about to go: its last turns may not have ended. Call it inside a write. */
    keepLabel: (companionId: string): void => void labels.find(companionId, ""),

    /** Counts one under the companion and one under none, which is the account's sum. Call it inside a write. */
    addFailure({ accountId, companionId, day }: Omit<UsageKey, "answeredBy">, kind: FailureKind): void {
      if (companionId !== null) addFailed.run(accountId, day, companionId, kind);
      addFailed.run(accountId, day, "", kind);
    },

    /** Call it inside a write. */
    add({ accountId, companionId, keyId, day, answeredBy }: UsageKey, added: Partial<UsageCounts>): void {
      const counts = counters.map((name) => added[name] ?? 0);
      const label = companionId === null ? 0 : labels.find(companionId, day);
      const { model, provider } = answeredBy ?? noAnswerer;
      const month = day.slice(0, "YYYY-MM".length);
      addDay.run(accountId, companionId ?? "", day, keyId ?? "", label, model, provider, ...counts);
      addMonth.run(accountId, companionId ?? "", month, keyId ?? "", label, model, provider, ...counts);
      addSum.run(accountId, day, keyId ?? "", model, provider, ...counts);
      if (companionId === null) return;
      const cost = { micros: added.costMicros ?? 0, picos: added.costPicos ?? 0 };
      for (const see of watchers) see({ accountId, companionId, day, label, cost });
    },
  };
}

interface LabelRow {
  number: number;
  metadata: string;
}

/** Labels of usage: the metadata that a companion had when something was counted. */
function createUsageLabels(engine: SqliteEngine) {
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

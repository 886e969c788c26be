/** Usage in SQLite: sums of the daily counts, never of messages. */
import type { FailureRow, UsageGroup, UsageQuery, UsageStore } from "../contract/usage.ts";
import { listDays, splitPeriod, type UsagePeriod } from "../rows/usage-periods.ts";
import { createTotal, type SumRow, selectSums } from "../rows/usage-sums.ts";
import { createAccountNumberFinder } from "./account-number.ts";
import type { Query, SqliteEngine } from "./engine.ts";
import type { MetadataIndex } from "./metadata-index.ts";
import { yieldToEventLoop } from "./retry.ts";

/** Companions summed before other requests get their turn: a few milliseconds at 400 days each. */
const companionsPerSlice = 50;

const sumOf = (column: string) => `sum(${column})`;

export function createUsageStore(engine: SqliteEngine, metadata: MetadataIndex): UsageStore {
  const compiled = new Map<string, Query<SumRow, string[]>>();
  const selectNextCompanion = engine.query<{ companion_id: string | null }, [string, string]>(
    "SELECT min(companion_id) AS companion_id FROM usage_daily WHERE account_id = ? AND companion_id > ?",
  );
  const findAccountNumber = createAccountNumberFinder(engine);
  const selectId = engine.query<{ id: string }, [number]>("SELECT id FROM companions WHERE number = ?");
  const selectNumber = engine.query<{ number: number }, [string]>("SELECT number FROM companions WHERE id = ?");

  // One lookup per day, since the table is ordered by account and day.
  const selectFailures = engine.query<FailureRow, [string, string, string]>(
    `SELECT kind, sum(replies) AS replies, max(day) AS lastDay FROM json_each(?) AS days
     CROSS JOIN failed_replies ON account_id = ? AND day = days.value AND companion_id = ?
     GROUP BY kind ORDER BY replies DESC, kind`,
  );

  /** One statement per set of dimensions, compiled on first use. */
  function query(period: UsagePeriod, condition: string, groupBy: readonly UsageGroup[]): Query<SumRow, string[]> {
    const where = `account_id = ? AND ${condition} AND ${period.column} BETWEEN ? AND ?`;
    const sql = selectSums(period, where, groupBy, sumOf);
    const known = compiled.get(sql) ?? engine.query<SumRow, string[]>(sql);
    compiled.set(sql, known);
    return known;
  }

  function sumAccount(accountId: string, { fromDay, toDay, groupBy }: UsageQuery): SumRow[] {
    const period = { table: "usage_account_daily", column: "day" };
    return query({ ...period, from: fromDay, to: toDay }, "true", groupBy).all(accountId, fromDay, toDay);
  }

  function sumCompanions(accountId: string, ids: readonly string[], usageQuery: UsageQuery): SumRow[] {
    const { fromDay, toDay, groupBy } = usageQuery;
    const json = JSON.stringify(ids);
    return splitPeriod(fromDay, toDay, groupBy.includes("day")).flatMap((period) =>
      query(period, "companion_id IN (SELECT value FROM json_each(?))", groupBy).all(
        accountId,
        json,
        period.from,
        period.to,
      ),
    );
  }

  /** Ids greater than `after`, in order, of all companions ever used, including deleted ones. */
  function listUsed(accountId: string, after: string | null): string[] {
    const ids: string[] = [];
    // An empty id stands for the keys' own calls.
    let last = after ?? "";
    if (after === null) ids.push("");
    while (ids.length < companionsPerSlice) {
      const next = selectNextCompanion.get(accountId, last)?.companion_id ?? null;
      if (next === null) break;
      ids.push(next);
      last = next;
    }
    return ids;
  }

  async function* listIds(accountId: string, usageQuery: UsageQuery): AsyncGenerator<string[]> {
    if (usageQuery.metadata.length === 0) {
      for (let ids: string[] = []; ; ) {
        ids = await engine.snapshot(() => listUsed(accountId, ids.at(-1) ?? null));
        yield ids;
        if (ids.length < companionsPerSlice) return;
      }
    }
    for (let below = Number.MAX_SAFE_INTEGER; ; ) {
      const { numbers, ids } = await engine.snapshot(() => readMatching(accountId, usageQuery, below));
      const last = numbers.at(-1);
      if (last === undefined) return;
      below = last;
      yield ids;
    }
  }

  function hasMetadata(accountId: string, { metadata: filters }: UsageQuery, companionId: string): boolean {
    if (filters.length === 0) return true;
    const account = findAccountNumber(accountId);
    const companion = selectNumber.get(companionId);
    return account !== null && companion !== null && metadata.has(account, filters, companion.number);
  }

  function readMatching(
    accountId: string,
    usageQuery: UsageQuery,
    below: number,
  ): { numbers: number[]; ids: string[] } {
    const account = findAccountNumber(accountId);
    if (account === null) return { numbers: [], ids: [] };
    for (const found of metadata.walk(account, usageQuery.metadata, below)) {
      const numbers = found.slice(0, companionsPerSlice);
      return { numbers, ids: numbers.flatMap((number) => selectId.get(number)?.id ?? []) };
    }
    return { numbers: [], ids: [] };
  }

  return {
    queryFailures: (accountId, { fromDay, toDay, companionId }) =>
      engine.read(() => selectFailures.all(JSON.stringify(listDays(fromDay, toDay)), accountId, companionId ?? "")),

    async query(accountId, usageQuery) {
      const { groupBy, companionId } = usageQuery;
      const total = createTotal(groupBy);
      if (companionId !== null) {
        const sum = () =>
          hasMetadata(accountId, usageQuery, companionId) ? sumCompanions(accountId, [companionId], usageQuery) : [];
        total.add(await engine.snapshot(sum));
      } else if (usageQuery.metadata.length === 0 && !groupBy.includes("companion")) {
        total.add(await engine.snapshot(() => sumAccount(accountId, usageQuery)));
      } else {
        for await (const ids of listIds(accountId, usageQuery)) {
          total.add(await engine.snapshot(() => sumCompanions(accountId, ids, usageQuery)));
          await yieldToEventLoop();
        }
      }
      return total.rows();
    },
  };
}

/** Usage in SQLite: sums of the daily counts, never of messages. */
import type { FailureRow, UsageStore } from "../contract/usage.ts";
import { createUsageEvents } from "../rows/usage-events.ts";
import type { UsageDimension } from "../rows/usage-groups.ts";
import { listDays, type UsagePeriod } from "../rows/usage-periods.ts";
import { createUsageReader, type UsageSource } from "../rows/usage-reader.ts";
import { type SumRow, selectSums } from "../rows/usage-sums.ts";
import type { Query, SqliteEngine } from "./engine.ts";
import { yieldToEventLoop } from "./retry.ts";
import { createLabelIndex } from "./usage-label-index.ts";

/** Companions summed before other requests get their turn: a few milliseconds at 400 days each. */
const companionsPerSlice = 50;
const labelsPerSlice = 200;

const sumOf = (column: string) => `sum(${column})`;
const ofAll = "true";
const ofLabels = "label IN (SELECT value FROM json_each(?))";

const sumQuery = (period: UsagePeriod, condition: string, dimensions: readonly UsageDimension[]) =>
  selectSums(period, `account_id = ? AND ${period.column} BETWEEN ? AND ? AND ${condition}`, dimensions, sumOf);

// A lookup for each companion, whatever the sums are grouped by: by day alone there may be a million rows.
const sumCompanionsQuery = (period: UsagePeriod, condition: string, dimensions: readonly UsageDimension[]) =>
  sumQuery(
    { ...period, table: `json_each(?) AS wanted CROSS JOIN ${period.table}` },
    `companion_id = wanted.value AND ${condition}`,
    dimensions,
  );

const someDay = { table: "usage_daily", column: "day", from: "", to: "" };

export const usageQueries = {
  account: sumQuery({ ...someDay, table: "usage_account_daily" }, ofAll, []),
  companions: sumCompanionsQuery(someDay, ofAll, ["companion", "label"]),
  companionsByDay: sumCompanionsQuery(someDay, ofAll, ["day"]),
  labels: sumCompanionsQuery(someDay, ofLabels, []),
  labelsByDay: sumCompanionsQuery(someDay, ofLabels, ["day"]),
  nextCompanion: "SELECT min(companion_id) AS id FROM usage_daily WHERE account_id = ? AND companion_id >= ?",
  companionsOfDay: `SELECT DISTINCT companion_id AS id FROM usage_daily
     WHERE account_id = ? AND day = ? AND companion_id >= ? ORDER BY companion_id LIMIT ?`,
  nextDay: "SELECT min(day) AS day FROM usage_account_daily WHERE account_id = ? AND day >= ?",
  labelsOf: "SELECT number FROM usage_labels WHERE companion_id = ? AND number < ? ORDER BY number DESC LIMIT ?",
  // One lookup per day, since the table is ordered by account and day.
  failures: `SELECT kind, sum(replies) AS replies, max(day) AS lastDay FROM json_each(?) AS days
     CROSS JOIN failed_replies ON account_id = ? AND day = days.value AND companion_id = ?
     GROUP BY kind ORDER BY replies DESC, kind`,
};

export function createUsageStore(engine: SqliteEngine): UsageStore {
  const selectFailures = engine.query<FailureRow, [string, string, string]>(usageQueries.failures);
  const source = createUsageSource(engine);
  return {
    ...createUsageReader(source),
    listEvents: createUsageEvents(source),
    queryFailures: (accountId, { fromDay, toDay, companionId }) =>
      engine.read(() => selectFailures.all(JSON.stringify(listDays(fromDay, toDay)), accountId, companionId ?? "")),
  };
}

function createUsageSource(engine: SqliteEngine): UsageSource {
  const labels = createLabelIndex(engine);
  const compiled = new Map<string, Query<SumRow, string[]>>();
  const selectNextCompanion = engine.query<{ id: string | null }, [string, string]>(usageQueries.nextCompanion);
  const selectCompanionsOfDay = engine.query<{ id: string }, [string, string, string, number]>(
    usageQueries.companionsOfDay,
  );
  const selectNextDay = engine.query<{ day: string | null }, [string, string]>(usageQueries.nextDay);
  const selectLabelsOf = engine.query<{ number: number }, [string, number, number]>(usageQueries.labelsOf);

  /** One statement per set of dimensions, compiled on first use. */
  function query(sql: string) {
    const known = compiled.get(sql) ?? engine.query<SumRow, string[]>(sql);
    compiled.set(sql, known);
    return known;
  }

  /** Ids from that one on, in order, of all companions ever used. */
  function listUsed(accountId: string, from: string): string[] {
    const ids: string[] = [];
    for (let next = from; ids.length < companionsPerSlice; ) {
      const id = selectNextCompanion.get(accountId, next)?.id ?? null;
      if (id === null) break;
      ids.push(id);
      next = `${id} `;
    }
    return ids;
  }

  return {
    walkLabels: labels.walk,

    sumAccount: (accountId, period, dimensions) =>
      engine.snapshot(() => query(sumQuery(period, ofAll, dimensions)).all(accountId, period.from, period.to)),

    async sumCompanions(accountId, periods, dimensions, { companionIds, labels: numbers }) {
      const rows: SumRow[] = [];
      const condition = numbers === undefined ? ofAll : ofLabels;
      const limits = numbers === undefined ? [] : [JSON.stringify(numbers)];
      for (let at = 0; at < companionIds.length; at += companionsPerSlice) {
        const ids = JSON.stringify(companionIds.slice(at, at + companionsPerSlice));
        const found = await engine.snapshot(() =>
          periods.flatMap((period) =>
            query(sumCompanionsQuery(period, condition, dimensions)).all(
              ids,
              accountId,
              period.from,
              period.to,
              ...limits,
            ),
          ),
        );
        for (const row of found) rows.push(row);
        await yieldToEventLoop();
      }
      return rows;
    },

    async listCompanions(accountId, from, day) {
      if (day === null) return engine.snapshot(() => listUsed(accountId, from));
      const rows = await engine.read(() => selectCompanionsOfDay.all(accountId, day, from, companionsPerSlice));
      return rows.map(({ id }) => id);
    },

    async findDay(accountId, fromDay) {
      return (await engine.read(() => selectNextDay.get(accountId, fromDay)))?.day ?? null;
    },

    async listLabels(companionId, below) {
      const rows = await engine.read(() => selectLabelsOf.all(companionId, below, labelsPerSlice));
      return rows.map(({ number }) => number);
    },

    async readLabels(numbers) {
      const texts = new Map<number, string>();
      for (let at = 0; at < numbers.length; at += labelsPerSlice) {
        const rows = await engine.read(() => labels.read(numbers.slice(at, at + labelsPerSlice)));
        for (const { number, metadata } of rows) texts.set(number, metadata);
        if (texts.size >= labelsPerSlice) await yieldToEventLoop();
      }
      return texts;
    },
  };
}

/** Usage in SQLite: sums of the daily counts, never of messages. */
import type { FailureRow, UsageStore } from "../../contracts/store/usage.ts";
import { toUtcDay } from "../../lib/clock.ts";
import { dayMs } from "../../lib/instant.ts";
import { pause } from "../../lib/pause.ts";
import { createUsageEvents } from "../store-shared/rows/usage-events.ts";
import type { UsageDimension } from "../store-shared/rows/usage-groups.ts";
import {
  behind,
  createUsageReader,
  labelsPerRead,
  type UsageScope,
  type UsageSource,
} from "../store-shared/rows/usage-reader.ts";
import { listDays, type SumRow, selectSums, type UsagePeriod } from "../store-shared/rows/usage-sums.ts";
import type { Query, SqliteEngine } from "./engine.ts";
import { createLabelIndex } from "./usage-label-index.ts";

/** Companions summed before other requests get their turn, unless there are too many rows. */
const companionsPerSlice = 50;
/** Rows summed before others get their turn: some milliseconds. A day of one companion is never cut. */
const rowsPerSlice = 1_000;
const labelsPerSlice = 200;

const sumOf = (column: string) => `sum(${column})`;
const ofAll = "true";
const ofLabels = "label IN (SELECT value FROM json_each(?))";

const sumQuery = (period: UsagePeriod, condition: string, dimensions: readonly UsageDimension[]) =>
  selectSums(period, `account_id = ? AND ${period.column} BETWEEN ? AND ? AND ${condition}`, dimensions, sumOf);

// A lookup for each companion, for every grouping: by day alone there may be a million rows.
const sumCompanionsQuery = (period: UsagePeriod, condition: string, dimensions: readonly UsageDimension[]) =>
  sumQuery(
    { ...period, table: `json_each(?) AS wanted CROSS JOIN ${period.table}` },
    `companion_id = wanted.value AND ${condition}`,
    dimensions,
  );

/** The day, or month, behind which there are more rows than a slice may have. */
const boundaryQuery = ({ table, column }: UsagePeriod, condition: string) =>
  `SELECT ${column} AS boundary FROM ${table} WHERE account_id = ? AND ${condition} AND ${column} BETWEEN ? AND ?
   ORDER BY ${column} LIMIT 1 OFFSET ${rowsPerSlice}`;
const countQuery = ({ table, column }: UsagePeriod) =>
  `SELECT count(*) AS count FROM (SELECT 1 FROM json_each(?) AS wanted CROSS JOIN ${table}
   WHERE account_id = ? AND companion_id = wanted.value AND ${column} BETWEEN ? AND ? LIMIT ${rowsPerSlice + 1})`;

const someDay = { table: "usage_daily", column: "day", from: "", to: "" };

export const usageQueries = {
  account: sumQuery({ ...someDay, table: "usage_account_daily" }, ofAll, []),
  companions: sumCompanionsQuery(someDay, ofAll, ["companion", "label"]),
  companionsByDay: sumCompanionsQuery(someDay, ofAll, ["day"]),
  labels: sumCompanionsQuery(someDay, ofLabels, []),
  labelsByDay: sumCompanionsQuery(someDay, ofLabels, ["day"]),
  nextOfAccount: boundaryQuery({ ...someDay, table: "usage_account_daily" }, ofAll),
  nextOfCompanion: boundaryQuery(someDay, "companion_id = ?"),
  countOfCompanions: countQuery(someDay),
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
  const compiled = new Map<string, Query<unknown, string[]>>();
  const selectNextCompanion = engine.query<{ id: string | null }, [string, string]>(usageQueries.nextCompanion);
  const selectCompanionsOfDay = engine.query<{ id: string }, [string, string, string, number]>(
    usageQueries.companionsOfDay,
  );
  const selectNextDay = engine.query<{ day: string | null }, [string, string]>(usageQueries.nextDay);
  const selectLabelsOf = engine.query<{ number: number }, [string, number, number]>(usageQueries.labelsOf);

  /** One statement per set of dimensions, compiled on first use. */
  function query<Row = SumRow>(sql: string): Query<Row, string[]> {
    const known = compiled.get(sql) ?? engine.query<unknown, string[]>(sql);
    compiled.set(sql, known);
    return known as Query<Row, string[]>;
  }

  /** Sums a period in parts where a slice has too many rows. `findNext`: the position of the first that is too many. */
  async function* cut(
    period: UsagePeriod,
    findNext: (from: string) => string | null,
    sum: (part: UsagePeriod) => SumRow[],
  ): AsyncGenerator<SumRow[]> {
    for (let from: string | null = period.from; from !== null; ) {
      const start: string = from;
      const { rows, next } = await engine.snapshot(() => {
        const boundary = findNext(start);
        if (boundary === null) return { rows: sum({ ...period, from: start }), next: null };
        const found = sum({ ...period, from: start, to: before(boundary) });
        if (found.length > 0) return { rows: found, next: boundary };
        return { rows: sum({ ...period, from: boundary, to: boundary }), next: behind(boundary) };
      });
      if (rows.length > 0) yield rows;
      from = next;
      await pause();
    }
  }

  async function* sumSome(
    accountId: string,
    period: UsagePeriod,
    dimensions: readonly UsageDimension[],
    { companionIds, labels: numbers }: UsageScope,
  ): AsyncGenerator<SumRow[]> {
    const condition = numbers === undefined ? ofAll : ofLabels;
    const limits = numbers === undefined ? [] : [JSON.stringify(numbers)];
    const sumOfIds = query(sumCompanionsQuery(period, condition, dimensions));
    const ids = JSON.stringify(companionIds);
    const whole = await engine.snapshot(() => {
      const rows = query<{ count: number }>(countQuery(period)).get(ids, accountId, period.from, period.to);
      return (rows?.count ?? 0) > rowsPerSlice ? null : sumOfIds.all(ids, accountId, period.from, period.to, ...limits);
    });
    await pause();
    if (whole !== null) {
      if (whole.length > 0) yield whole;
      return;
    }
    const selectNext = query<{ boundary: string }>(boundaryQuery(period, "companion_id = ?"));
    for (const id of companionIds) {
      const one = JSON.stringify([id]);
      yield* cut(
        period,
        (from) => selectNext.get(accountId, id, from, period.to)?.boundary ?? null,
        (part) => sumOfIds.all(one, accountId, part.from, part.to, ...limits),
      );
    }
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

    sumAccount(accountId, period, dimensions) {
      const sum = query(sumQuery(period, ofAll, dimensions));
      const selectNext = query<{ boundary: string }>(boundaryQuery(period, ofAll));
      return cut(
        period,
        (from) => selectNext.get(accountId, from, period.to)?.boundary ?? null,
        (part) => sum.all(accountId, part.from, part.to),
      );
    },

    async *sumCompanions(accountId, periods, dimensions, scope) {
      const { companionIds } = scope;
      for (let at = 0; at < companionIds.length; at += companionsPerSlice) {
        const some = { ...scope, companionIds: companionIds.slice(at, at + companionsPerSlice) };
        for (const period of periods) yield* sumSome(accountId, period, dimensions, some);
      }
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

    async *readLabels(numbers) {
      for (let at = 0; at < numbers.length; at += labelsPerRead) {
        yield await engine.read(() => labels.read(numbers.slice(at, at + labelsPerRead)));
        await pause();
      }
    },
  };
}

/** The day, or month, before. */
function before(boundary: string): string {
  const day = toUtcDay(Date.parse(boundary) - dayMs);
  return day.slice(0, boundary.length);
}

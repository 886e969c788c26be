/** Usage in PostgreSQL: sums of the daily counts, never of messages. */
import type { FailureRow, UsageStore } from "../../contracts/store/usage.ts";
import { pause } from "../../lib/pause.ts";
import { createUsageEvents } from "../store-shared/rows/usage-events.ts";
import type { UsageDimension } from "../store-shared/rows/usage-groups.ts";
import {
  createUsageReader,
  labelsPerRead,
  type UsageScope,
  type UsageSource,
} from "../store-shared/rows/usage-reader.ts";
import { listDays, type SumRow, selectSums, type UsagePeriod } from "../store-shared/rows/usage-sums.ts";
import type { PostgresEngine } from "./engine.ts";
import type { Parameter } from "./queries.ts";
import type { ChangeRecorder } from "./scripts.ts";
import { createLabelIndex } from "./usage-label-index.ts";

/** Companions of one query: each has a row for each day and key. */
const companionsPerQuery = 500;
const labelsPerQuery = 500;
/** Rows added in one go: some milliseconds. */
const rowsPerSlice = 1_000;

const sumOf = (column: string) => `sum(${column})::float8`;
const numberOf = (column: string) => `${column}::float8`;
// A lookup for each companion, regardless of the planner's statistics: by day alone there may be a million rows.
const lookUp = ({ table, column }: UsagePeriod) => `unnest($4::text[]) AS wanted (id)
  CROSS JOIN LATERAL (SELECT u.* FROM ${table} u WHERE u.account_id = $1 AND u.companion_id = wanted.id
    AND u.${column} BETWEEN $2 AND $3 OFFSET 0) AS found`;
const ofAll = "true";
const ofLabels = "label = ANY ($5::bigint[])";

const sumAccountQuery = (period: UsagePeriod, dimensions: readonly UsageDimension[]) =>
  selectSums(period, "account_id = $1 AND day BETWEEN $2 AND $3", dimensions, sumOf, numberOf);

const sumCompanionsQuery = (period: UsagePeriod, condition: string, dimensions: readonly UsageDimension[]) =>
  selectSums({ ...period, table: lookUp(period) }, condition, dimensions, sumOf, numberOf);

const someDay = { table: "usage_daily", column: "day", from: "", to: "" };

export const usageQueries = {
  account: sumAccountQuery({ ...someDay, table: "usage_account_daily" }, []),
  companions: sumCompanionsQuery(someDay, ofAll, ["companion", "label"]),
  labels: sumCompanionsQuery(someDay, ofLabels, []),
  // From one to the next: a companion has a row for each day, which need not be read.
  nextCompanions: `WITH RECURSIVE used AS (
      (SELECT companion_id FROM usage_daily WHERE account_id = $1 AND companion_id >= $2 ORDER BY companion_id LIMIT 1)
      UNION ALL
      SELECT (SELECT u.companion_id FROM usage_daily u WHERE u.account_id = $1 AND u.companion_id > used.companion_id
        ORDER BY u.companion_id LIMIT 1)
      FROM used WHERE used.companion_id IS NOT NULL
    ) SELECT companion_id AS id FROM used WHERE companion_id IS NOT NULL LIMIT ${companionsPerQuery}`,
  companionsOfDay: `SELECT DISTINCT companion_id AS id FROM usage_daily
    WHERE account_id = $1 AND day = $2 AND companion_id >= $3 ORDER BY companion_id LIMIT ${companionsPerQuery}`,
  nextDay: "SELECT day FROM usage_account_daily WHERE account_id = $1 AND day >= $2 ORDER BY day LIMIT 1",
  labelsOf: `SELECT l.number::float8 AS number FROM usage_labels l
    WHERE l.companion_id >= $1 AND (l.companion_id, l.number) < ($1, $2::float8::bigint)
    ORDER BY l.companion_id DESC, l.number DESC LIMIT ${labelsPerQuery}`,
};

// One lookup per day, since the table is ordered by account and day.
const selectFailures = `SELECT f.kind, sum(f.replies)::float8 AS replies, max(f.day) AS "lastDay"
  FROM unnest($1::text[]) AS days (day)
    CROSS JOIN LATERAL (SELECT r.kind, r.replies, r.day FROM failed_replies r
      WHERE r.account_id = $2 AND r.day = days.day AND r.companion_id = $3 OFFSET 0) AS f
  GROUP BY f.kind ORDER BY sum(f.replies) DESC, f.kind`;

export function createUsageStore(
  engine: PostgresEngine,
  changes: Pick<ChangeRecorder, "findAccountNumber">,
): UsageStore {
  const source = createUsageSource(engine, changes);
  return {
    ...createUsageReader(source),
    listEvents: createUsageEvents(source),
    queryFailures: (accountId, { fromDay, toDay, companionId }) =>
      engine.heavy.all<FailureRow>(selectFailures, [listDays(fromDay, toDay), accountId, companionId ?? ""]),
  };
}

function createUsageSource(engine: PostgresEngine, changes: Pick<ChangeRecorder, "findAccountNumber">): UsageSource {
  const { heavy } = engine;
  const labels = createLabelIndex(engine, changes);

  async function sumCompanions(
    accountId: string,
    period: UsagePeriod,
    dimensions: readonly UsageDimension[],
    { companionIds, labels: numbers }: UsageScope,
  ): Promise<SumRow[]> {
    const parameters: Parameter[] = [accountId, period.from, period.to, companionIds];
    if (numbers !== undefined) parameters.push(numbers);
    return heavy.all(sumCompanionsQuery(period, numbers === undefined ? ofAll : ofLabels, dimensions), parameters);
  }

  return {
    walkLabels: labels.walk,

    async *sumAccount(accountId, period, dimensions) {
      yield* inSlices(
        await heavy.all<SumRow>(sumAccountQuery(period, dimensions), [accountId, period.from, period.to]),
      );
    },

    async *sumCompanions(accountId, periods, dimensions, scope) {
      const sums = periods.map((period) => sumCompanions(accountId, period, dimensions, scope));
      for (const rows of await Promise.all(sums)) yield* inSlices(rows);
    },

    async listCompanions(accountId, from, day) {
      const rows =
        day === null
          ? await heavy.all<{ id: string }>(usageQueries.nextCompanions, [accountId, from])
          : await heavy.all<{ id: string }>(usageQueries.companionsOfDay, [accountId, day, from]);
      return rows.map(({ id }) => id);
    },

    async findDay(accountId, fromDay) {
      return (await heavy.get<{ day: string }>(usageQueries.nextDay, [accountId, fromDay]))?.day ?? null;
    },

    async listLabels(companionId, below) {
      const rows = await heavy.all<{ number: number }>(usageQueries.labelsOf, [companionId, below]);
      return rows.map(({ number }) => number);
    },

    async *readLabels(numbers) {
      for (let at = 0; at < numbers.length; at += labelsPerRead) {
        yield await labels.read(numbers.slice(at, at + labelsPerRead));
      }
    },
  };
}

/** Others get their turn between two of them. */
async function* inSlices<Row>(rows: readonly Row[]): AsyncGenerator<Row[]> {
  for (let at = 0; at < rows.length; at += rowsPerSlice) {
    if (at > 0) await pause();
    yield rows.slice(at, at + rowsPerSlice);
  }
}

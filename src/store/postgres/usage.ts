/** Usage in PostgreSQL: sums of the daily counts, never of messages. */
import type { JsonObject } from "../../domain/companion.ts";
import type { FailureRow, UsageQuery, UsageStore } from "../contract/usage.ts";
import { listDays, splitPeriod, type UsagePeriod } from "../rows/usage-periods.ts";
import { createTotal, type SumRow, selectSums } from "../rows/usage-sums.ts";
import type { PostgresEngine } from "./engine.ts";
import { matchesMetadata } from "./metadata-index.ts";
import type { StoreParts } from "./parts.ts";
import type { Parameter } from "./queries.ts";
import { ofAccount } from "./rows/companion.ts";

/** Companions of one query: each has a row for each day and key. */
const companionsPerQuery = 500;

const sumOf = (column: string) => `sum(${column})::float8`;
// One lookup per day, since the table is ordered by account and day.
const selectFailures = `SELECT f.kind, sum(f.replies)::float8 AS replies, max(f.day) AS "lastDay"
  FROM unnest($1::text[]) AS days (day)
    CROSS JOIN LATERAL (SELECT r.kind, r.replies, r.day FROM failed_replies r
      WHERE r.account_id = $2 AND r.day = days.day AND r.companion_id = $3 OFFSET 0) AS f
  GROUP BY f.kind ORDER BY sum(f.replies) DESC, f.kind`;
const selectMetadata = `SELECT c.metadata FROM companions c WHERE c.id = $1 AND ${ofAccount("$2")}`;
const selectIds = "SELECT id FROM companions WHERE number = ANY ($1::bigint[])";

export function createUsageStore(
  engine: PostgresEngine,
  { changes, metadata }: Pick<StoreParts, "changes" | "metadata">,
): UsageStore {
  const { heavy } = engine;

  function sum(
    period: UsagePeriod,
    { groupBy }: UsageQuery,
    accountId: string,
    companions?: readonly string[],
  ): Promise<SumRow[]> {
    const ofCompanions = companions === undefined ? "true" : "companion_id = ANY ($4::text[])";
    const condition = `account_id = $1 AND ${period.column} BETWEEN $2 AND $3 AND ${ofCompanions}`;
    const parameters: Parameter[] = [accountId, period.from, period.to];
    if (companions !== undefined) parameters.push(companions);
    return heavy.all<SumRow>(selectSums(period, condition, groupBy, sumOf), parameters);
  }

  /** Without ids of all companions that were ever used, deleted ones included, and of the keys' own calls. */
  async function sumCompanions(accountId: string, query: UsageQuery, ids?: readonly string[]): Promise<SumRow[]> {
    const periods = splitPeriod(query.fromDay, query.toDay, query.groupBy.includes("day"));
    return (await Promise.all(periods.map((period) => sum(period, query, accountId, ids)))).flat();
  }

  async function hasMetadata(accountId: string, { metadata: filters }: UsageQuery, id: string): Promise<boolean> {
    if (filters.length === 0) return true;
    const row = await heavy.get<{ metadata: string }>(selectMetadata, [id, accountId]);
    return row !== null && matchesMetadata(JSON.parse(row.metadata) as JsonObject, filters);
  }

  async function* listMatching(accountId: string, { metadata: filters }: UsageQuery): AsyncGenerator<string[]> {
    const account = await changes.findAccountNumber(heavy, accountId);
    if (account === null) return;
    for await (const numbers of metadata.walk(heavy, account, filters, Number.MAX_SAFE_INTEGER, companionsPerQuery)) {
      const rows = await heavy.all<{ id: string }>(selectIds, [numbers]);
      yield rows.map(({ id }) => id);
    }
  }

  return {
    queryFailures: (accountId, { fromDay, toDay, companionId }) =>
      heavy.all<FailureRow>(selectFailures, [listDays(fromDay, toDay), accountId, companionId ?? ""]),

    async query(accountId, query) {
      const { fromDay, toDay, groupBy, companionId } = query;
      const total = createTotal(groupBy);
      if (companionId !== null) {
        if (await hasMetadata(accountId, query, companionId)) {
          total.add(await sumCompanions(accountId, query, [companionId]));
        }
      } else if (query.metadata.length > 0) {
        for await (const ids of listMatching(accountId, query)) total.add(await sumCompanions(accountId, query, ids));
      } else if (groupBy.includes("companion")) {
        total.add(await sumCompanions(accountId, query));
      } else {
        const period = { table: "usage_account_daily", column: "day", from: fromDay, to: toDay };
        total.add(await sum(period, query, accountId));
      }
      return total.rows();
    },
  };
}

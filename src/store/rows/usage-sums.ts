/** Adds up rows of usage by the dimensions that were asked for. */
import type { UsageCounts } from "../../domain/usage.ts";
import type { UsageGroup, UsageRow } from "../contract/usage.ts";
import { counterColumns, counters } from "./usage-counters.ts";
import type { UsagePeriod } from "./usage-periods.ts";

/** Dimensions that were not asked for are empty. */
export interface SumRow extends UsageCounts {
  day: string;
  companion_id: string;
  key_id: string;
}

const groupColumns: Record<UsageGroup, string> = { day: "day", companion: "companion_id", key: "key_id" };

/** `sumOf`: the sum of a column, as the engine's number. No row if there is none to sum. */
export function selectSums(
  { table }: UsagePeriod,
  condition: string,
  groupBy: readonly UsageGroup[],
  sumOf: (column: string) => string,
): string {
  const grouped = groupBy.map((group) => groupColumns[group]);
  const dimensions = Object.values(groupColumns).map((name) => (grouped.includes(name) ? name : `'' AS ${name}`));
  const sums = counters.map((name) => `${sumOf(counterColumns[name])} AS "${name}"`);
  const grouping = grouped.length === 0 ? "" : `GROUP BY ${grouped.join(", ")}`;
  return `SELECT ${[...dimensions, ...sums].join(", ")} FROM ${table} WHERE ${condition} ${grouping} HAVING count(*) > 0`;
}

/** Rows with the same dimensions become one; changes the rows. */
export function createTotal(groupBy: readonly UsageGroup[]) {
  const groups = new Map<string, SumRow>();

  return {
    add(rows: readonly SumRow[]): void {
      for (const row of rows) {
        const key = `${row.day} ${row.companion_id} ${row.key_id}`;
        const group = groups.get(key);
        if (group === undefined) {
          groups.set(key, row);
          continue;
        }
        for (const name of counters) group[name] += row[name];
      }
    },

    rows(): UsageRow[] {
      const sorted = [...groups.entries()].sort(([one], [other]) => (one < other ? -1 : 1));
      return sorted.map(([, row]) => toUsageRow(row, groupBy));
    },
  };
}

function toUsageRow(row: SumRow, groupBy: readonly UsageGroup[]): UsageRow {
  const { day, companion_id, key_id, ...counts } = row;
  return {
    ...(groupBy.includes("day") ? { day } : {}),
    ...(groupBy.includes("companion") ? { companionId: companion_id === "" ? null : companion_id } : {}),
    ...(groupBy.includes("key") ? { keyId: key_id === "" ? null : key_id } : {}),
    ...counts,
  };
}

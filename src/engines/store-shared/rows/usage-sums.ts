/** Adds up rows of usage by the groups that were asked for. */
import type { UsageGroup, UsagePosition, UsageRow } from "../../../contracts/store/usage.ts";
import type { UsageCounts } from "../../../domain/usage.ts";
import { sortInSlices } from "../../../lib/sort-in-slices.ts";
import { counterColumns, counters } from "./usage-counters.ts";
import { comparePositions, isMetadata, shortenValue, type UsageDimension } from "./usage-groups.ts";
import type { UsagePeriod } from "./usage-periods.ts";

/** Dimensions that were not asked for are empty, and the label 0. */
export interface SumRow extends UsageCounts {
  day: string;
  companion_id: string;
  key_id: string;
  month: string;
  model: string;
  provider: string;
  label: number;
}

/** SQL of both engines. */
const columns: Record<UsageDimension, { name: keyof SumRow; absent: string }> = {
  day: { name: "day", absent: "''" },
  companion: { name: "companion_id", absent: "''" },
  key: { name: "key_id", absent: "''" },
  month: { name: "month", absent: "''" },
  model: { name: "model", absent: "''" },
  provider: { name: "provider", absent: "''" },
  label: { name: "label", absent: "0" },
};

/** `sumOf`: the sum of a column, as the engine's number; `numberOf`: a number. No row if there is none to sum. */
export function selectSums(
  { table, column }: UsagePeriod,
  condition: string,
  dimensions: readonly UsageDimension[],
  sumOf: (column: string) => string,
  numberOf = (name: string) => name,
): string {
  const expressionOf = (dimension: UsageDimension) =>
    dimension === "month" && column === "day" ? "substr(day, 1, 7)" : columns[dimension].name;
  const selected = Object.entries(columns).map(([dimension, { name, absent }]) => {
    if (!dimensions.some((asked) => asked === dimension)) return `${absent} AS ${name}`;
    const expression = expressionOf(dimension as UsageDimension);
    return `${dimension === "label" ? numberOf(expression) : expression} AS ${name}`;
  });
  const sums = counters.map((name) => `${sumOf(counterColumns[name])} AS "${name}"`);
  const grouping = dimensions.length === 0 ? "" : `GROUP BY ${dimensions.map(expressionOf).join(", ")}`;
  return `SELECT ${[...selected, ...sums].join(", ")} FROM ${table} WHERE ${condition} ${grouping} HAVING count(*) > 0`;
}

interface Group {
  position: UsagePosition;
  row: UsageRow;
}

export interface TotalOptions {
  /** Only rows behind this place. */
  after?: UsagePosition | null;
  /** How many of the first rows are of interest: not many more are held. */
  atMost?: number;
}

const byPosition = (one: Group, other: Group) => comparePositions(one.position, other.position);

/** Rows of the same groups become one. `groupBy` in its order. */
export function createTotal(groupBy: readonly UsageGroup[], { after = null, atMost }: TotalOptions = {}) {
  const groups = new Map<string, Group>();
  const mostHeld = atMost === undefined ? Number.POSITIVE_INFINITY : atMost * 2;
  /** Rows behind it are not among the first. */
  let last: UsagePosition | null = null;

  function sort(): Group[] {
    return [...groups.values()].sort(byPosition);
  }

  /** What is dropped once never comes back: the first ones only become fewer places before it. */
  function dropLast(): void {
    const kept = sort().slice(0, atMost);
    groups.clear();
    for (const group of kept) groups.set(JSON.stringify(group.position), group);
    last = kept.at(-1)?.position ?? null;
  }

  function isWanted(position: UsagePosition): boolean {
    if (after !== null && comparePositions(position, after) <= 0) return false;
    return last === null || comparePositions(position, last) <= 0;
  }

  return {
    get size() {
      return groups.size;
    },

    /** `fields`: the values of the groups `metadata.…`. */
    add(row: SumRow, fields: readonly (string | null)[]): void {
      const values = valuesOf(row, fields, groupBy);
      const position = values.map((value, at) => (at < values.length - fields.length ? value : shortenValue(value)));
      if (!isWanted(position)) return;
      const key = JSON.stringify(position);
      const group = groups.get(key);
      if (group === undefined) {
        groups.set(key, { position, row: toUsageRow(row, groupBy, values) });
        if (groups.size > mostHeld) dropLast();
        return;
      }
      for (const name of counters) group.row[name] += row[name];
    },

    /** In order, with their places. */
    sorted: () => sortInSlices([...groups.values()], byPosition),
  };
}

function valuesOf(row: SumRow, fields: readonly (string | null)[], groupBy: readonly UsageGroup[]): (string | null)[] {
  const plain = groupBy.flatMap((group) => {
    if (isMetadata(group)) return [];
    const value = row[columns[group].name] as string;
    return [value === "" ? null : value];
  });
  return [...plain, ...fields];
}

function toUsageRow(row: SumRow, groupBy: readonly UsageGroup[], values: UsagePosition): UsageRow {
  const counts = Object.fromEntries(counters.map((name) => [name, row[name]])) as unknown as UsageCounts;
  const valueIn = (group: UsageGroup) => values[groupBy.indexOf(group)] ?? null;
  const fields = groupBy.filter(isMetadata);
  return {
    ...(groupBy.includes("day") ? { day: row.day } : {}),
    ...(groupBy.includes("companion") ? { companionId: valueIn("companion") } : {}),
    ...(groupBy.includes("key") ? { keyId: valueIn("key") } : {}),
    ...(groupBy.includes("month") ? { month: row.month } : {}),
    ...(groupBy.includes("model") ? { model: valueIn("model") } : {}),
    ...(groupBy.includes("provider") ? { provider: valueIn("provider") } : {}),
    ...(fields.length > 0 ? { metadata: Object.fromEntries(fields.map((field) => [field, valueIn(field)])) } : {}),
    ...counts,
  };
}

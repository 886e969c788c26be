/** Adds up rows of usage by the groups that were asked for. */
import type { UsageGroup, UsagePosition, UsageRow } from "../../../contracts/store/usage.ts";
import type { UsageCounts } from "../../../domain/usage.ts";
import { toUtcDay } from "../../../lib/clock.ts";
import { dayMs } from "../../../lib/instant.ts";
import { sortInSlices } from "../../../lib/sort-in-slices.ts";
import { counterColumns, counters } from "./usage-counters.ts";
import { comparePositions, isMetadata, shortenValue, type UsageDimension } from "./usage-groups.ts";

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
  /** Only rows behind this position. */
  after?: UsagePosition | null;
  /** How many of the first rows are of interest: not many more are held. */
  atMost?: number;
}

const byPosition = (one: Group, other: Group) => comparePositions(one.position, other.position);

/** Rows of the same groups become one. `groupBy` in its order. */
export function createTotal(groupBy: readonly UsageGroup[], { after = null, atMost }: TotalOptions = {}) {
  const groups = new Map<string, Group>();
  const maxHeld = atMost === undefined ? Number.POSITIVE_INFINITY : atMost * 2;
  /** Rows behind it are not among the first. */
  let last: UsagePosition | null = null;

  function sort(): Group[] {
    return [...groups.values()].sort(byPosition);
  }

  /** What is dropped once never comes back: the first ones only become fewer. */
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
        if (groups.size > maxHeld) dropLast();
        return;
      }
      for (const name of counters) group.row[name] += row[name];
    },

    /** In order, with their positions. */
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

export interface UsagePeriod {
  table: string;
  /** `day` or `month`. */
  column: string;
  /** Both inclusive. */
  from: string;
  to: string;
}

/** The month of the day that is `days` after the given one. */
function monthOf(day: string, days: number): string {
  return new Date(Date.parse(day) + days * dayMs).toISOString().slice(0, 7);
}

function addMonths(month: string, months: number): string {
  const [year = 0, number = 1] = month.split("-").map(Number);
  return new Date(Date.UTC(year, number - 1 + months)).toISOString().slice(0, 7);
}

/** Splits a range of days into whole months, which are already summed, and the days left at both ends. */
export function splitPeriod(fromDay: string, toDay: string, isByDay: boolean): UsagePeriod[] {
  const days = { table: "usage_daily", column: "day" };
  const first = fromDay.endsWith("-01") ? monthOf(fromDay, 0) : addMonths(monthOf(fromDay, 0), 1);
  // The next day is in a different month only after the last day of a month.
  const last = addMonths(monthOf(toDay, 1), -1);
  if (isByDay || first > last) return [{ ...days, from: fromDay, to: toDay }];
  return [
    // As text, no day lies between a month's "00" and "01", or after its "32".
    { ...days, from: fromDay, to: `${first}-00` },
    { table: "usage_monthly", column: "month", from: first, to: last },
    { ...days, from: `${last}-32`, to: toDay },
  ];
}

/** All days, both inclusive. */
export function listDays(fromDay: string, toDay: string): string[] {
  const days: string[] = [];
  for (let atMs = Date.parse(fromDay); atMs <= Date.parse(toDay); atMs += dayMs) days.push(toUtcDay(atMs));
  return days;
}

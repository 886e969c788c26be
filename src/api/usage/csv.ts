/** Usage as CSV, for spreadsheets and for programs that read columns by their place. */
import type { UsageGroup } from "../../contracts/store/store.ts";
import { toCell } from "../../http/csv.ts";
import type { WireRow } from "./responses.ts";

const firstGroups = { day: "day", companion: "companion_id", key: "key_id" } as const;
const firstCounts = ["messages", "requests", "input_tokens", "output_tokens", "voice_sessions", "errors"];
const laterCounts = ["cached_tokens", "cost_micros", "reasoning_tokens", "cache_write_tokens"];

/**
 * RFC 4180, with a header line first. The columns depend only on the grouping, and keep their places: later ones, groups as
 * well, are behind those that there were before.
 */
export function createCsv(groupBy: readonly UsageGroup[]) {
  const before = Object.entries(firstGroups).flatMap(([group, column]) =>
    groupBy.includes(group as UsageGroup) ? [column] : [],
  );
  const later = groupBy.filter((group) => !Object.hasOwn(firstGroups, group));
  const columns = [...before, ...firstCounts, ...later, ...laterCounts];
  return {
    header: `${columns.map(toCell).join(",")}\r\n`,
    line: (row: WireRow) => `${columns.map((column) => toCell(row[column] ?? "")).join(",")}\r\n`,
  };
}

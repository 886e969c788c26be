/** Failed replies in SQLite: one lookup per day, since the table is ordered by account and day. */
import { dayMs } from "../../lib/instant.ts";
import type { FailureRow, UsageStore } from "../contract/usage.ts";
import type { SqliteEngine } from "./engine.ts";

export function createFailureQuery(engine: SqliteEngine): UsageStore["queryFailures"] {
  const select = engine.query<FailureRow, [string, string, string]>(
    `SELECT kind, sum(replies) AS replies, max(day) AS lastDay FROM json_each(?) AS days
     CROSS JOIN failed_replies ON account_id = ? AND day = days.value AND companion_id = ?
     GROUP BY kind ORDER BY replies DESC, kind`,
  );
  return (accountId, { fromDay, toDay, companionId }) =>
    engine.read(() => select.all(JSON.stringify(listDays(fromDay, toDay)), accountId, companionId ?? ""));
}

function listDays(fromDay: string, toDay: string): string[] {
  const days: string[] = [];
  for (let atMs = Date.parse(fromDay); atMs <= Date.parse(toDay); atMs += dayMs) {
    days.push(new Date(atMs).toISOString().slice(0, "YYYY-MM-DD".length));
  }
  return days;
}

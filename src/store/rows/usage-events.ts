/** Usage as events for a platform's meter: day by day, and within a day companion by companion. */
import { sha256Hex } from "../../lib/sha256.ts";
import type { UsageEvent, UsageEventPlace, UsageEventQuery, UsageEventSlice } from "../contract/usage.ts";
import { counters } from "./usage-counters.ts";
import { behind, type UsageSource } from "./usage-reader.ts";
import type { SumRow } from "./usage-sums.ts";

/** Behind the empty id, which is the keys' own calls. */
const firstCompanion = behind("");
const noMetadata = "{}";

export function createUsageEvents(source: UsageSource) {
  async function sumDay(accountId: string, day: string, companionIds: readonly string[]): Promise<UsageEvent[]> {
    const period = { table: "usage_daily", column: "day", from: day, to: day };
    const dimensions = ["companion", "model", "provider", "label"] as const;
    const rows = await source.sumCompanions(accountId, [period], dimensions, { companionIds });
    const labels = [...new Set(rows.map(({ label }) => label))].filter((number) => number !== 0);
    const texts = labels.length === 0 ? new Map<number, string>() : await source.readLabels(labels);
    const events = new Map<string, UsageEvent>();
    for (const row of rows) {
      const event = toEvent(accountId, { ...row, day }, texts.get(row.label) ?? noMetadata);
      const same = events.get(event.identifier);
      // Metadata that was changed and changed back has several labels.
      if (same === undefined) events.set(event.identifier, event);
      else for (const name of counters) same[name] += event[name];
    }
    return [...events.values()].sort(compareEvents);
  }

  return async (accountId: string, { fromDay, toDay, after }: UsageEventQuery): Promise<UsageEventSlice> => {
    const start = after !== null && after.day >= fromDay ? after : null;
    const day = await source.findDay(accountId, start?.day ?? fromDay);
    if (day === null || day > toDay) return { events: [], next: null };
    const place: UsageEventPlace = start?.day === day ? start : { day, companionId: firstCompanion, identifier: "" };
    const from = place.companionId === "" ? firstCompanion : place.companionId;
    const companionIds = await source.listCompanions(accountId, from, day);
    const last = companionIds.at(-1);
    const nextDay = { day: behind(day), companionId: firstCompanion, identifier: "" };
    if (last === undefined) return { events: [], next: nextDay };
    const events = await sumDay(accountId, day, companionIds);
    const isPast = ({ companionId, identifier }: UsageEvent) =>
      companionId === place.companionId && identifier <= place.identifier;
    return {
      events: events.filter((event) => !isPast(event)),
      next: { day, companionId: behind(last), identifier: "" },
    };
  };
}

function toEvent(accountId: string, row: SumRow, metadata: string): UsageEvent {
  const { day, companion_id: companionId, key_id, month, label, ...counted } = row;
  // Part of what platforms keep: neither the order nor anything else of this list may ever change.
  const names = [accountId, companionId, day, row.provider, row.model, metadata];
  return {
    ...counted,
    identifier: sha256Hex(JSON.stringify(names)),
    day,
    companionId,
    model: row.model === "" ? null : row.model,
    provider: row.provider === "" ? null : row.provider,
    metadata,
  };
}

function compareEvents(one: UsageEvent, other: UsageEvent): number {
  if (one.companionId !== other.companionId) return one.companionId < other.companionId ? -1 : 1;
  return one.identifier < other.identifier ? -1 : 1;
}

/** Usage as events for a platform's meter: day by day, and within a day companion by companion. */
import type {
  UsageEvent,
  UsageEventPosition,
  UsageEventQuery,
  UsageEventSlice,
} from "../../../contracts/store/usage.ts";
import { sha256Hex } from "../../../lib/sha256.ts";
import { counters } from "./usage-counters.ts";
import { behind, type UsageSource } from "./usage-reader.ts";
import type { SumRow } from "./usage-sums.ts";

/** Behind the empty id, which is the keys' own calls. */
const firstCompanion = behind("");
const noMetadata = "{}";
/** Of one slice, each with up to 16 KiB; those of one companion may be more. */
const fewLabels = 200;

export function createUsageEvents(source: UsageSource) {
  /** In order; those of the first companion, and as many more as have few labels. `last` is the last of them. */
  async function sumDay(accountId: string, day: string, companionIds: readonly string[]) {
    const period = { table: "usage_daily", column: "day", from: day, to: day };
    const dimensions = ["companion", "model", "provider", "label"] as const;
    const rowsOf = new Map<string, SumRow[]>(companionIds.map((id) => [id, []]));
    for await (const rows of source.sumCompanions(accountId, [period], dimensions, { companionIds })) {
      for (const row of rows) rowsOf.get(row.companion_id)?.push({ ...row, day });
    }
    const labels = new Map<number, SumRow[]>();
    let last = "";
    for (const [id, rows] of rowsOf) {
      const numbers = new Set(rows.map(({ label }) => label));
      if (last !== "" && labels.size + numbers.size > fewLabels) break;
      last = id;
      for (const row of rows) labels.set(row.label, [...(labels.get(row.label) ?? []), row]);
    }
    return { events: await nameEvents(accountId, labels), last };
  }

  /** By label, whose text is in their names. */
  async function nameEvents(accountId: string, rowsByLabel: ReadonlyMap<number, SumRow[]>): Promise<UsageEvent[]> {
    const events = new Map<string, UsageEvent>();
    const add = (row: SumRow, metadata: string) => {
      const event = toEvent(accountId, row, metadata);
      const same = events.get(event.identifier);
      // Metadata that was changed and changed back has several labels, and a long day several parts.
      if (same === undefined) events.set(event.identifier, event);
      else for (const name of counters) same[name] += event[name];
    };
    const gone = new Set(rowsByLabel.keys());
    for await (const labels of source.readLabels([...gone].filter((number) => number !== 0))) {
      for (const { number, metadata } of labels) {
        gone.delete(number);
        for (const row of rowsByLabel.get(number) ?? []) add(row, metadata);
      }
    }
    for (const number of gone) for (const row of rowsByLabel.get(number) ?? []) add(row, noMetadata);
    return [...events.values()].sort(compareEvents);
  }

  return async (accountId: string, { fromDay, toDay, after }: UsageEventQuery): Promise<UsageEventSlice> => {
    const start = after !== null && after.day >= fromDay ? after : null;
    const day = await source.findDay(accountId, start?.day ?? fromDay);
    if (day === null || day > toDay) return { events: [], next: null };
    const position: UsageEventPosition =
      start?.day === day ? start : { day, companionId: firstCompanion, identifier: "" };
    const from = position.companionId === "" ? firstCompanion : position.companionId;
    const companionIds = await source.listCompanions(accountId, from, day);
    const nextDay = { day: behind(day), companionId: firstCompanion, identifier: "" };
    if (companionIds.length === 0) return { events: [], next: nextDay };
    const { events, last } = await sumDay(accountId, day, companionIds);
    const isPast = ({ companionId, identifier }: UsageEvent) =>
      companionId === position.companionId && identifier <= position.identifier;
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

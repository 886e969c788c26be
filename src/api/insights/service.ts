/** Figures about conversations, put together from what the store counts and from usage. */
import type { InsightCounts, MetadataFilter } from "../../contracts/store/store.ts";
import type { Services } from "../../core/dependencies.ts";
import type { Principal } from "../../domain/account.ts";
import { roundToMicros } from "../../domain/money.ts";
import type { UsageCounts } from "../../domain/usage.ts";
import { dayMs } from "../../lib/instant.ts";
import { pause } from "../../lib/pause.ts";
import { offsetAt, startOfDay } from "../../lib/wall-clock.ts";

export interface InsightsRequest {
  /** Days in the zone, both included. */
  readonly fromDay: string;
  readonly toDay: string;
  readonly timezone: string;
  readonly companionId: string | null;
  readonly metadata: readonly MetadataFilter[];
}

type InsightServices = Pick<Services, "store" | "clock">;

const companionsPerPage = 1_000;
const quarterMs = 15 * 60_000;

export async function readInsights(services: InsightServices, principal: Principal, request: InsightsRequest) {
  const { store, clock } = services;
  const { fromDay, toDay, timezone } = request;
  const accountId = principal.account.id;
  const fromMs = startOfDay(timezone, fromDay);
  const toMs = startOfDay(timezone, nextDay(toDay));
  const companionIds = await findCompanions(services, accountId, request);
  const counts = await store.insights.count(accountId, { fromMs, toMs, companionIds }, clock.nowMs());
  const usage = companionIds?.size === 0 ? noUsage : await sumUsage(services, principal, request);
  const events = (type: "asked" | "taken" | "missed") => counts.events.get(type) ?? 0;
  return {
    ...{ from: fromDay, to: toDay, timezone },
    conversations: sumOf(counts.conversations),
    replies: counts.replies ?? usage.messages,
    ...counts.ratings,
    ...{ resolved: counts.resolved, unresolved: counts.unresolved, unanswered: counts.unanswered },
    ...{ asked: events("asked"), taken: events("taken"), missed: events("missed"), contacts: counts.contacts },
    first_answer_seconds: { median: medianOf(counts.answers), p90: rankOf(counts.answers, 0.9) },
    handled_seconds: Math.round(counts.personMs / 1000),
    cost_micros: usage.unpriced > 0 ? null : roundToMicros({ micros: usage.costMicros, picos: usage.costPicos }),
    busy: await spread(counts.conversations, timezone),
  };
}

/** Null: all that the caller sees. */
async function findCompanions(
  { store }: InsightServices,
  accountId: string,
  { companionId, metadata }: InsightsRequest,
): Promise<ReadonlySet<string> | null> {
  if (companionId === null && metadata.length === 0) return null;
  if (companionId !== null && metadata.length === 0) {
    return new Set((await store.companions.find(accountId, companionId)) === null ? [] : [companionId]);
  }
  const ids = new Set<string>();
  for (let afterId: string | null = null; ; await pause()) {
    const page = { limit: companionsPerPage, afterId };
    const found = await store.companions.list(accountId, { metadata, q: null }, page);
    for (const { id } of found.items) if (companionId === null || id === companionId) ids.add(id);
    if (found.nextAfterId === null) return ids;
    afterId = found.nextAfterId;
  }
}

type Sums = Pick<UsageCounts, "messages" | "unpriced" | "costMicros" | "costPicos">;

const noUsage: Sums = { messages: 0, unpriced: 0, costMicros: 0, costPicos: 0 };

/** By UTC day, as usage is counted. */
async function sumUsage({ store }: InsightServices, principal: Principal, request: InsightsRequest): Promise<Sums> {
  const { fromDay, toDay, companionId, metadata } = request;
  const member = principal.keyId === null ? principal.member : null;
  const scopes = companionId === null ? (member?.companionIds ?? [null]) : [companionId];
  const sums = { ...noUsage };
  for (const id of scopes) {
    const query = { fromDay, toDay, groupBy: ["month" as const], companionId: id, metadata };
    for (const row of await store.usage.query(principal.account.id, query)) {
      for (const field of ["messages", "unpriced", "costMicros", "costPicos"] as const) sums[field] += row[field];
    }
  }
  return sums;
}

function nextDay(day: string): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + dayMs).toISOString().slice(0, day.length);
}

function sumOf(counts: ReadonlyMap<number, number>): number {
  let sum = 0;
  for (const count of counts.values()) sum += count;
  return sum;
}

/** The value that this share of all is not above; null of none. */
function rankOf(counts: InsightCounts["answers"], share: number, above = 0): number | null {
  const rank = Math.max(1, Math.ceil(sumOf(counts) * share)) + above;
  let passed = 0;
  for (const [value, count] of [...counts].sort(([one], [other]) => one - other)) {
    passed += count;
    if (passed >= rank) return value;
  }
  return null;
}

function medianOf(counts: InsightCounts["answers"]): number | null {
  const lower = rankOf(counts, 0.5);
  const upper = sumOf(counts) % 2 === 0 ? rankOf(counts, 0.5, 1) : lower;
  return lower === null || upper === null ? null : (lower + upper) / 2;
}

/** By weekday from Monday and by hour of the wall clock. */
async function spread(quarters: ReadonlyMap<number, number>, timezone: string): Promise<number[][]> {
  const busy = Array.from({ length: 7 }, () => new Array<number>(24).fill(0));
  const offsets = new Map<number, number | null>();
  /** Of a UTC day; null if the clock changes on it. To ask for each quarter of an hour would hold the event loop. */
  const offsetOf = (day: number) => {
    const known = offsets.get(day);
    if (known !== undefined) return known;
    const offset = offsetAt(timezone, day * dayMs);
    const found = offset === offsetAt(timezone, (day + 1) * dayMs) ? offset : null;
    offsets.set(day, found);
    return found;
  };
  let read = 0;
  for (const [quarter, count] of quarters) {
    if (++read % 500 === 0) await pause();
    const atMs = quarter * quarterMs;
    const wall = new Date(atMs + (offsetOf(Math.floor(atMs / dayMs)) ?? offsetAt(timezone, atMs)));
    const hours = busy[(wall.getUTCDay() + 6) % 7];
    if (hours !== undefined) hours[wall.getUTCHours()] = (hours[wall.getUTCHours()] ?? 0) + count;
  }
  return busy;
}

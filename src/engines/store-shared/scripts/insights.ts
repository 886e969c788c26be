/** Figures about conversations: counted by indexes, in parts of some milliseconds, when they are asked for. */
import type { InsightCounts, InsightsQuery, InsightsStore } from "../../../contracts/store/insights.ts";
import type { HandoffEventType } from "../../../domain/handoff.ts";
import { Slices } from "../../../lib/pause.ts";
import { ownsCompanion } from "./companions.ts";
import { all, get, type Script, type ScriptRunner } from "./script.ts";

/** Rows that are counted before others get their turn. */
const rowsPerSlice = 5_000;
const companionsPerSlice = 200;
const conversationsPerSlice = 200;
/** Of more companions all of the account's conversations are read. */
const maxNarrow = 50;
/** Replies are counted in messages as long as those of so few conversations are to be read. */
const maxRead = 20_000;
const quarterMs = 15 * 60_000;
const periodMs = 600_000;

/** What is counted: rows of `table` by their time, and by `key`. */
interface Counted {
  /** With its joins; the counted table is `t`. */
  readonly table: string;
  /** `$1` is the account's id, or the companion's. */
  readonly owner: string;
  readonly time: string;
  readonly key: string;
  readonly condition?: string;
  /** Instead of the number of rows. */
  readonly sum?: string;
}

interface CountRow {
  key: number | string;
  count: number;
  companionId?: string;
}

const ofAccount = "t.account_id = $1";
const whole = { owner: ofAccount, key: "1" };
const sources = {
  conversations: {
    ...{ table: "conversations t", owner: ofAccount, time: "t.created_at", key: `t.created_at / ${quarterMs}` },
  },
  ratings: { ...whole, table: "ratings t", time: "t.created_at", key: "t.rating" },
  events: { ...whole, table: "handoff_events t", time: "t.at_ms", key: "t.type" },
  contacts: { ...whole, table: "contacts t", time: "t.consented_at" },
  resolved: {
    // A message after the visitor's word makes it void.
    table: "handoffs t JOIN conversations v ON v.number = t.conversation_number AND v.message_count = t.resolved_seq",
    ...{ owner: ofAccount, time: "t.resolved_at_ms", key: "CASE WHEN t.is_resolved THEN 1 ELSE 0 END" },
    condition: "t.resolved_at_ms IS NOT NULL",
  },
  answers: {
    ...{ table: "handoff_spans t", owner: `${ofAccount} AND t.kind = 'answer'`, time: "t.at_ms" },
    key: "(t.duration_ms + 500) / 1000",
  },
  people: {
    ...{ table: "handoff_spans t", owner: `${ofAccount} AND t.kind = 'person'`, time: "t.at_ms", key: "1" },
    sum: "sum(t.duration_ms)",
  },
} as const satisfies Record<string, Counted>;

const within = ({ owner, time, condition = "true" }: Counted) =>
  `${owner} AND ${time} >= $2 AND ${time} < $3 AND ${condition}`;

function count(source: Counted, isByCompanion: boolean): string {
  const companion = isByCompanion ? `, t.companion_id AS "companionId"` : "";
  return `SELECT ${source.key} AS key, ${source.sum ?? "count(*)"} AS count${companion} FROM ${source.table} WHERE ${within(source)}
    GROUP BY ${isByCompanion ? "1, 3" : "1"}`;
}

/** When the row is that a slice has no room for. */
function cut(source: Counted): string {
  const [table = ""] = source.table.split(" JOIN ");
  return `SELECT ${source.time} AS "atMs" FROM ${table} WHERE ${within(source)}
    ORDER BY ${source.time} LIMIT 1 OFFSET ${rowsPerSlice}`;
}

const ofCompanion: Counted = { ...sources.conversations, owner: "t.companion_id = $1" };
const heldNow = `SELECT h.since_ms AS "sinceMs", h.companion_id AS "companionId" FROM handoffs h
  WHERE h.account_id = $1 AND h.state = 'person' AND h.since_ms < $2`;
const companionsAfter = `SELECT id, number FROM companions WHERE account_id = $1 AND number > $2
  ORDER BY number LIMIT $3`;
const unanswered = `SELECT count(*) AS count FROM companions c CROSS JOIN knowledge_turns k
  WHERE c.id = ANY ($1::text[]) AND k.companion_id = c.id AND k.group_id IS NOT NULL
    AND k.created_at >= $2 AND k.created_at < $3`;
const replies = `SELECT count(*) AS count FROM messages m
  WHERE m.conversation_number = ANY ($1::float8[]::bigint[]) AND m.created_at >= $2 AND m.created_at < $3
    AND m.role = 'assistant' AND m.complete AND NOT EXISTS
      (SELECT 1 FROM message_authors a WHERE a.conversation_number = m.conversation_number AND a.seq = m.seq)`;

/** For tests of their plans. */
export const insightQueries = {
  counts: Object.fromEntries(
    Object.entries({ ...sources, ofCompanion }).map(([name, one]) => [name, count(one, false)]),
  ),
  cuts: Object.fromEntries(Object.entries({ ...sources, ofCompanion }).map(([name, one]) => [name, cut(one)])),
  ...{ heldNow, companionsAfter, unanswered, replies },
};

interface UpdatedRow {
  period: number;
  number: number;
  companionId: string;
  createdAt: number;
}

/**
 * `selectUpdated`: `UpdatedRow`s of the account `$1` behind the period `$2` and the number `$3` in it, at most `$4`, in that
 * order, which each engine knows by other means.
 */
export function createInsightsStore(scripts: ScriptRunner, selectUpdated: string): InsightsStore {
  async function* listCounts(source: Counted, owner: string, { fromMs, toMs, companionIds }: InsightsQuery) {
    const text = count(source, companionIds !== null);
    const cutText = cut(source);
    const slices = new Slices();
    for (let startMs = fromMs; startMs < toMs; ) {
      const { rows, endMs } = await scripts.readHeavy(function* (): Script<{ rows: CountRow[]; endMs: number }> {
        const atMs = (yield* get<{ atMs: number }>(cutText, owner, startMs, toMs))?.atMs ?? toMs;
        // More than a slice of one millisecond is not divided.
        const endMs = Math.max(atMs, startMs + 1);
        return { rows: yield* all<CountRow>(text, owner, startMs, endMs), endMs };
      });
      for (const row of rows) {
        if (companionIds === null || companionIds.has(row.companionId ?? "")) yield row;
        if (slices.isOver) await slices.pause();
      }
      startMs = endMs;
      if (slices.isOver) await slices.pause();
    }
  }

  async function sum(source: Counted, accountId: string, query: InsightsQuery): Promise<Map<number | string, number>> {
    const sums = new Map<number | string, number>();
    for await (const { key, count: more } of listCounts(source, accountId, query)) {
      sums.set(key, (sums.get(key) ?? 0) + more);
    }
    return sums;
  }

  async function sumConversations(accountId: string, query: InsightsQuery): Promise<Map<number | string, number>> {
    const { companionIds } = query;
    if (companionIds === null || companionIds.size > maxNarrow)
      return await sum(sources.conversations, accountId, query);
    const sums = new Map<number | string, number>();
    for (const companionId of companionIds) {
      if (!(await scripts.readHeavy(() => ownsCompanion(accountId, companionId)))) continue;
      const found = listCounts(ofCompanion, companionId, { ...query, companionIds: null });
      for await (const { key, count: more } of found) sums.set(key, (sums.get(key) ?? 0) + more);
    }
    return sums;
  }

  /** Null where too much is to be read. */
  async function countReplies(
    accountId: string,
    { fromMs, toMs, companionIds }: InsightsQuery,
  ): Promise<InsightCounts["replies"]> {
    let found = 0;
    let read = 0;
    for (let period = Math.floor(fromMs / periodMs) - 1, number = Number.MAX_SAFE_INTEGER; ; ) {
      const range = [period, number, conversationsPerSlice];
      const rows = await scripts.readHeavy(() => all<UpdatedRow>(selectUpdated, accountId, ...range));
      const wanted = rows.filter(
        ({ companionId, createdAt }) => createdAt < toMs && (companionIds === null || companionIds.has(companionId)),
      );
      read += rows.length;
      if (read > maxRead) return null;
      const numbers = wanted.map((row) => row.number);
      if (numbers.length > 0) found += await countRows(replies, numbers, fromMs, toMs);
      const last = rows.at(-1);
      if (last === undefined || rows.length < conversationsPerSlice) return found;
      ({ period, number } = last);
    }
  }

  const slices = new Slices();

  async function countRows(text: string, of: readonly (string | number)[], ...time: [number, number]): Promise<number> {
    const row = await scripts.readHeavy(() => get<{ count: number }>(text, of, ...time));
    if (slices.isOver) await slices.pause();
    return row?.count ?? 0;
  }

  async function countUnanswered(accountId: string, { fromMs, toMs, companionIds }: InsightsQuery): Promise<number> {
    let found = 0;
    for (let after = 0; ; ) {
      const range = [after, companionsPerSlice];
      const rows = await scripts.readHeavy(() =>
        all<{ id: string; number: number }>(companionsAfter, accountId, ...range),
      );
      const ids = rows.map(({ id }) => id).filter((id) => companionIds === null || companionIds.has(id));
      if (ids.length > 0) found += await countRows(unanswered, ids, fromMs, toMs);
      const last = rows.at(-1);
      if (last === undefined || rows.length < companionsPerSlice) return found;
      after = last.number;
    }
  }

  async function sumPeople(accountId: string, query: InsightsQuery, nowMs: number): Promise<number> {
    let personMs = (await sum(sources.people, accountId, query)).get(1) ?? 0;
    const { fromMs, toMs, companionIds } = query;
    type Held = { sinceMs: number; companionId: string };
    for (const held of await scripts.readHeavy(() => all<Held>(heldNow, accountId, Math.min(toMs, nowMs)))) {
      if (companionIds !== null && !companionIds.has(held.companionId)) continue;
      personMs += Math.max(0, Math.min(toMs, nowMs) - Math.max(fromMs, held.sinceMs));
    }
    return personMs;
  }

  return {
    async count(accountId, query, nowMs) {
      const ratings = await sum(sources.ratings, accountId, query);
      const resolved = await sum(sources.resolved, accountId, query);
      return {
        conversations: (await sumConversations(accountId, query)) as Map<number, number>,
        replies: await countReplies(accountId, query),
        ratings: { up: ratings.get("up") ?? 0, down: ratings.get("down") ?? 0 },
        resolved: resolved.get(1) ?? 0,
        unresolved: resolved.get(0) ?? 0,
        unanswered: await countUnanswered(accountId, query),
        events: (await sum(sources.events, accountId, query)) as Map<HandoffEventType, number>,
        contacts: (await sum(sources.contacts, accountId, query)).get(1) ?? 0,
        answers: (await sum(sources.answers, accountId, query)) as Map<number, number>,
        personMs: await sumPeople(accountId, query, nowMs),
      };
    },
  };
}

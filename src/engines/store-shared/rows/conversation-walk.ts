/**
 * Lists of conversations by their last change. No index has them so, since every turn would have to write it: they are
 * found by the ten minutes of their last change, and sorted here.
 */

import type { ConversationQuery } from "../../../contracts/store/conversations.ts";
import type { ListOrder, Page, PageRequest } from "../../../contracts/store/page.ts";
import type { Conversation } from "../../../domain/conversation.ts";
import { pause } from "../../../lib/pause.ts";

/** Of which conversations are found together; the migrations have it too. */
const periodMs = 600_000;

/** What decides whether a conversation is in the list, and where. */
export interface ConversationFacts {
  number: number;
  updatedAt: number;
  createdAt: number;
  companionId: string;
  /** Empty for no visitor. */
  visitorId: string;
}

export interface ConversationReader {
  findNumber(id: string): Promise<number | null>;
  findId(number: number): Promise<string | null>;
  /** The first period with conversations from this one on, itself included. */
  findPeriod(from: number, order: ListOrder): Promise<number | null>;
  /** Of a period, by number. */
  listPeriod(period: number, afterNumber: number, limit: number): Promise<ConversationFacts[]>;
  /**
   * Of those whose companion exists, in the order of the numbers; where `q` is not empty only those with a message that
   * contains it. `cost` counts the rows and, in thousands, the characters that were read.
   */
  readConversations(numbers: readonly number[], q: string): Promise<{ found: Conversation[]; cost: number }>;
}

const factsPerSlice = 2_000;
const rowsPerSlice = 100;
/** After so much, a page is what was found, with a cursor to go on. */
const costPerPage = 50_000;

export async function walkConversations(
  reader: ConversationReader,
  query: ConversationQuery & { updatedSinceMs: number },
  page: PageRequest,
): Promise<Page<Conversation>> {
  const { limit } = page;
  const q = query.q ?? "";
  const found: Conversation[] = [];
  let cost = 0;
  for await (const { facts, read, passed } of listInOrder(reader, query, page)) {
    const rows = await reader.readConversations(
      facts.map(({ number }) => number),
      q,
    );
    cost += read + rows.cost;
    // One that has changed since it was found is elsewhere in the list now.
    const times = new Set(facts.map(({ updatedAt }) => updatedAt));
    found.push(...rows.found.filter(({ updatedAt }) => times.has(updatedAt)));
    const items = found.slice(0, limit);
    const last = items.at(-1);
    if (found.length > limit && last !== undefined)
      return { items, nextAfterId: last.id, nextUpdatedAt: last.updatedAt };
    if (cost >= costPerPage) {
      const nextAfterId = (await reader.findId(passed.number)) ?? last?.id ?? null;
      return { items, nextAfterId, nextUpdatedAt: passed.updatedAt };
    }
    await pause();
  }
  return { items: found, nextAfterId: null };
}

interface Slice {
  facts: ConversationFacts[];
  /** How many were read for these. */
  read: number;
  /** The list goes on behind it. */
  passed: ConversationFacts;
}

async function* listInOrder(
  reader: ConversationReader,
  query: ConversationQuery & { updatedSinceMs: number },
  { order = "desc", afterId, afterUpdatedAt }: PageRequest,
): AsyncGenerator<Slice> {
  const isAsc = order === "asc";
  const after = afterId === null ? null : { updatedAt: afterUpdatedAt ?? 0, number: await reader.findNumber(afterId) };
  // Of those of one millisecond, better some twice than one never.
  const afterNumber = after?.number ?? (isAsc ? 0 : Number.MAX_SAFE_INTEGER);
  const start = after?.updatedAt ?? (isAsc ? query.updatedSinceMs : Number.MAX_SAFE_INTEGER);
  const isFollowing = ({ updatedAt, number }: ConversationFacts) => {
    if (after === null) return true;
    const distance = updatedAt - after.updatedAt || number - afterNumber;
    return isAsc ? distance > 0 : distance < 0;
  };
  const distanceOf = (one: ConversationFacts, other: ConversationFacts) => {
    const distance = one.updatedAt - other.updatedAt || one.number - other.number;
    return isAsc ? distance : -distance;
  };
  for (let from = Math.floor(start / periodMs); ; ) {
    const period = await reader.findPeriod(from, order);
    if (period === null || (period + 1) * periodMs <= query.updatedSinceMs) return;
    let read = 0;
    let last: ConversationFacts | null = null;
    const wanted: ConversationFacts[] = [];
    for await (const facts of readPeriod(reader, period)) {
      read += facts.length;
      for (const one of facts.filter(isFollowing)) {
        if (last === null || distanceOf(one, last) > 0) last = one;
        if (isWanted(one, query)) wanted.push(one);
      }
    }
    wanted.sort(distanceOf);
    for (let at = 0; at < wanted.length; at += rowsPerSlice) {
      const some = wanted.slice(at, at + rowsPerSlice);
      const passed = some.at(-1);
      if (passed !== undefined) yield { facts: some, read: at === 0 ? read : 0, passed };
    }
    if (last !== null) yield { facts: [], read: wanted.length === 0 ? read : 0, passed: last };
    from = isAsc ? period + 1 : period - 1;
  }
}

async function* readPeriod(reader: ConversationReader, period: number): AsyncGenerator<ConversationFacts[]> {
  for (let after = 0; ; ) {
    const facts = await reader.listPeriod(period, after, factsPerSlice);
    yield facts;
    if (facts.length < factsPerSlice) return;
    after = facts.at(-1)?.number ?? Number.MAX_SAFE_INTEGER;
    await pause();
  }
}

function isWanted(
  { updatedAt, createdAt, companionId, visitorId }: ConversationFacts,
  query: ConversationQuery & { updatedSinceMs: number },
): boolean {
  return (
    updatedAt >= query.updatedSinceMs &&
    (query.companionId === null || companionId === query.companionId) &&
    (query.visitorId === null || visitorId === query.visitorId) &&
    createdAt >= (query.fromMs ?? 0) &&
    createdAt < (query.toMs ?? Number.MAX_SAFE_INTEGER)
  );
}

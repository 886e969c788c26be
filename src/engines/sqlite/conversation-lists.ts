/** Lists of conversations, newest first by creation. */
import type { ConversationQuery } from "../../contracts/store/conversations.ts";
import type { ListOrder, Page, PageRequest } from "../../contracts/store/page.ts";
import type { Conversation } from "../../domain/conversation.ts";
import { later } from "../../lib/later.ts";
import { pause } from "../../lib/pause.ts";
import { findPosition, maxBefore, toConversation } from "../store-shared/rows/conversation.ts";
import { walkConversations } from "../store-shared/rows/conversation-walk.ts";
import { type ConversationRow, conversationColumns, createConversationReaders } from "./conversation-reader.ts";
import type { SqliteEngine } from "./engine.ts";

interface ListedRow extends ConversationRow {
  /** 0 if the companion was deleted, and the conversation only waits for its own deletion. */
  isLive: number;
}

interface Position {
  createdAt: number;
  number: number;
}

/** A slice of a text search ends after this much text (about two milliseconds), so that streams can continue. */
const textPerSlice = 1_000_000;
const rowsPerSlice = 50;
const messagesPerRead = 100;
/** After reading this much, a search returns what it has found, with a cursor to continue. */
const textPerSearch = 200_000_000;

function selectFrom(index: string, condition: string, order: ListOrder = "desc"): string {
  const sorted = order === "asc" ? "created_at, number" : "created_at DESC, number DESC";
  return `SELECT ${conversationColumns.select("conversations")},
       EXISTS (SELECT 1 FROM companions WHERE companions.id = conversations.companion_id) AS isLive
     FROM conversations INDEXED BY ${index}
     WHERE ${condition} AND (created_at, number) ${order === "asc" ? ">" : "<"} (?, ?)
       AND created_at ${order === "asc" ? "<" : ">="} ?
     ORDER BY ${sorted} LIMIT ?`;
}

const makeQueries = (order: ListOrder) => ({
  ofAccount: selectFrom("conversations_account", "account_id = ?", order),
  ofCompanion: selectFrom("conversations_companion", "companion_id = ? AND account_id = ?", order),
  // The second condition on the visitor shows SQLite that it can use the partial index.
  ofVisitor: selectFrom(
    "conversations_visitor",
    "account_id = ? AND visitor_id = ? AND visitor_id <> '' AND companion_id = ifnull(?, companion_id)",
    order,
  ),
});
export const conversationListQueries = later(() => makeQueries("desc"));
const oldestFirst = later(() => makeQueries("asc"));

export function createConversationLists(engine: SqliteEngine) {
  /** After a position, up to a bound at the other end. */
  type Range = [createdAt: number, number: number, boundMs: number, limit: number];
  const prepare = (queries: typeof conversationListQueries) => ({
    ofAccount: engine.query<ListedRow, [string, ...Range]>(() => queries.ofAccount),
    ofCompanion: engine.query<ListedRow, [string, string, ...Range]>(() => queries.ofCompanion),
    ofVisitor: engine.query<ListedRow, [string, string, string | null, ...Range]>(() => queries.ofVisitor),
  });
  const inOrder = { desc: prepare(conversationListQueries), asc: prepare(oldestFirst) };
  const selectPositions = engine.query<Position & { id: string }, [string, number]>(
    "SELECT id, created_at AS createdAt, number FROM conversations WHERE id <= ? ORDER BY id DESC LIMIT ?",
  );
  // Within one millisecond, ids are ordered by start, numbers by the end of the first reply.
  const selectTwin = engine.query<{ id: string }, [string, string, number]>(
    "SELECT id FROM conversations WHERE id > ? AND id < ? AND created_at = ? LIMIT 1",
  );
  const selectTexts = engine.query<{ text: string }, [number, number, number]>(
    "SELECT text FROM messages WHERE conversation_number = ? ORDER BY created_at DESC, number DESC LIMIT ? OFFSET ?",
  );

  /** Rows of the page come after this position. */
  function startOf({ fromMs, toMs }: ConversationQuery, { afterId, order }: PageRequest): Position {
    const isAsc = order === "asc";
    // Nothing has the number 0: before the first, or behind the last of the millisecond before.
    const end = isAsc
      ? { createdAt: fromMs ?? 0, number: 0 }
      : { createdAt: toMs ?? Number.MAX_SAFE_INTEGER, number: 0 };
    if (afterId === null) return end;
    const after = positionOf(afterId, isAsc);
    const isBeforeEnd = after.createdAt < end.createdAt;
    return isBeforeEnd === isAsc ? end : after;
  }

  function positionOf(id: string, isAsc: boolean): Position {
    const row = findPosition(selectPositions.all(id, maxBefore), id);
    if (row?.id === id) return { createdAt: row.createdAt, number: row.number };
    const { prefix, epochMs } = timeOf(id);
    // Another one of the same millisecond may come before or after the deleted one: better twice than never.
    if (selectTwin.get(id, `${prefix}.`, epochMs) !== null) return { createdAt: epochMs + (isAsc ? 0 : 1), number: 0 };
    if (row === null) return { createdAt: 0, number: 0 };
    return isAsc ? { createdAt: row.createdAt, number: row.number } : { createdAt: row.createdAt + 1, number: 0 };
  }

  function selectRows(
    accountId: string,
    query: ConversationQuery,
    after: Position,
    limit: number,
    order: ListOrder,
  ): ListedRow[] {
    const { companionId, visitorId } = query;
    const { ofAccount, ofCompanion, ofVisitor } = inOrder[order];
    const bound = order === "asc" ? (query.toMs ?? Number.MAX_SAFE_INTEGER) : (query.fromMs ?? 0);
    const range: Range = [after.createdAt, after.number, bound, limit];
    if (visitorId !== null) return ofVisitor.all(accountId, visitorId, companionId, ...range);
    if (companionId !== null) return ofCompanion.all(companionId, accountId, ...range);
    return ofAccount.all(accountId, ...range);
  }

  /** How much text was read, and whether a message of the conversation contains `folded`, ignoring case. */
  function searchMessages(conversationNumber: number, folded: string): { isMatch: boolean; read: number } {
    let read = 0;
    for (let offset = 0; ; offset += messagesPerRead) {
      const texts = selectTexts.all(conversationNumber, messagesPerRead, offset);
      for (const { text } of texts) {
        read += text.length;
        if (text.toLowerCase().includes(folded)) return { isMatch: true, read };
      }
      if (texts.length < messagesPerRead) return { isMatch: false, read };
    }
  }

  /** Reads rows until `wanted` are found or the slice is used up; `last` is null at the end of the list. */
  function readSlice(accountId: string, query: ConversationQuery, after: Position, wanted: number, order: ListOrder) {
    const folded = query.q === null ? "" : query.q.toLowerCase();
    const limit = Math.max(wanted, rowsPerSlice);
    const rows = selectRows(accountId, query, after, limit, order);
    const found: ListedRow[] = [];
    let read = 0;
    for (const row of rows) {
      if (row.isLive === 1) {
        const searched = folded === "" ? { isMatch: true, read: 0 } : searchMessages(row.number, folded);
        read += searched.read;
        if (searched.isMatch) found.push(row);
      }
      if (read > textPerSlice || found.length >= wanted) return { found, read, last: row };
    }
    return { found, read, last: rows.length < limit ? null : (rows.at(-1) ?? null) };
  }

  const readerOf = createConversationReaders(engine, searchMessages);

  return {
    readerOf,

    async list(accountId: string, query: ConversationQuery, page: PageRequest): Promise<Page<Conversation>> {
      const { updatedSinceMs } = query;
      if (updatedSinceMs != null) {
        return await walkConversations(readerOf(accountId), { ...query, updatedSinceMs }, page);
      }
      const { limit, order = "desc" } = page;
      const found: ListedRow[] = [];
      let after = await engine.read(() => startOf(query, page));
      for (let read = 0; ; await pause()) {
        const slice = await engine.snapshot(() => readSlice(accountId, query, after, limit + 1 - found.length, order));
        found.push(...slice.found);
        read += slice.read;
        const { last } = slice;
        const items = found.slice(0, limit).map(toConversation);
        if (found.length > limit) return { items, nextAfterId: items.at(-1)?.id ?? null };
        if (last === null) return { items, nextAfterId: null };
        if (read > textPerSearch) return { items, nextAfterId: last.id };
        after = { createdAt: last.createdAt, number: last.number };
      }
    },
  };
}

/** The part of a UUIDv7 that encodes its creation time, and that time. */
function timeOf(id: string): { prefix: string; epochMs: number } {
  const prefix = id.slice(0, 13);
  return { prefix, epochMs: Number.parseInt(prefix.replace("-", ""), 16) };
}

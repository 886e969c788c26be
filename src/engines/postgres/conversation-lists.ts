/** Lists of conversations, newest first by creation. */
import type { ConversationQuery } from "../../contracts/store/conversations.ts";
import type { ListOrder, Page, PageRequest } from "../../contracts/store/page.ts";
import type { Conversation } from "../../domain/conversation.ts";
import { findPosition, maxBefore, toConversation } from "../store-shared/rows/conversation.ts";
import {
  type ConversationFacts,
  type ConversationReader,
  walkConversations,
} from "../store-shared/rows/conversation-walk.ts";
import type { Row } from "../store-shared/tables/dialect.ts";
import type { PostgresEngine } from "./engine.ts";
import { createMessageSearch } from "./message-search.ts";
import type { Queries } from "./queries.ts";
import { mapColumns } from "./rows/columns.ts";
import { tables } from "./tables.ts";

/** Conversations as rows. */
const conversationColumns = mapColumns(tables.conversations, ["accountId"]);

type ConversationRow = Omit<Row<typeof tables.conversations>, "accountId">;

interface ListedRow extends ConversationRow {
  /** False if the companion was deleted, and the conversation only waits for its own deletion. */
  isLive: boolean;
}

interface Position {
  createdAt: number;
  id: string;
}

/** Conversations that are read in one query, where many may have to be passed over. */
const rowsPerSlice = 200;
/** After reading so much text, a search returns what it has found, with a cursor to continue. */
const textPerSearch = 50_000_000;
/** What a conversation costs beside its text. */
const textPerConversation = 1_000;
/** Behind all ids. */
const afterAllIds = "~";

// A subquery for one value: for EXISTS, PostgreSQL may read all companions first.
function selectFrom(condition: string, order: ListOrder): string {
  const [after, bound, direction] = order === "asc" ? [">", "<", "ASC"] : ["<", ">=", "DESC"];
  return `SELECT ${conversationColumns.select("c")},
      coalesce((SELECT true FROM companions k WHERE k.id = c.companion_id), false) AS "isLive"
    FROM conversations c WHERE (c.created_at, c.id) ${after} ($1, $2) AND c.created_at ${bound} $3 AND ${condition}
    ORDER BY c.created_at ${direction}, c.id ${direction} LIMIT $4`;
}

// `|| ''` keeps PostgreSQL from an index that serves less. The second condition on the visitor shows it that it can use
// the partial one.
const ofVisitor = "c.account_id = $5 AND c.visitor_id = $6 AND c.visitor_id <> ''";
const makeQueries = (order: ListOrder) => ({
  ofAccount: selectFrom("c.account_id = $5", order),
  ofCompanion: selectFrom("c.account_id || '' = $5 AND c.companion_id = $6", order),
  ofVisitor: selectFrom(ofVisitor, order),
  ofVisitorAt: selectFrom(`${ofVisitor} AND c.companion_id || '' = $7`, order),
});
const listQueries = { desc: makeQueries("desc"), asc: makeQueries("asc") };
const selectPositions = `SELECT id, created_at::float8 AS "createdAt" FROM conversations WHERE id <= $1
  ORDER BY id DESC LIMIT ${maxBefore}`;

export function createConversationLists(engine: PostgresEngine) {
  const search = createMessageSearch(engine.heavy);

  /** Rows of the page come after this position. */
  async function startOf(
    queries: Queries,
    { fromMs, toMs }: ConversationQuery,
    { afterId, order }: PageRequest,
  ): Promise<Position> {
    const isAsc = order === "asc";
    const end = { createdAt: isAsc ? (fromMs ?? 0) : (toMs ?? Number.MAX_SAFE_INTEGER), id: "" };
    if (afterId === null) return end;
    const after = findPosition(await queries.all<Position>(selectPositions, [afterId]), afterId) ?? {
      createdAt: 0,
      id: "",
    };
    const isBeforeEnd = after.createdAt < end.createdAt;
    if (isBeforeEnd === isAsc) return end;
    // If it is gone, the one before it is on the page of a list of the newest, and was on an earlier one of the oldest.
    return after.id === afterId || isAsc ? after : { ...after, id: after.id + afterAllIds };
  }

  function selectRows(
    queries: Queries,
    accountId: string,
    query: ConversationQuery,
    after: Position,
    limit: number,
    order: ListOrder,
  ) {
    const { companionId, visitorId } = query;
    const { ofAccount, ofCompanion, ofVisitor, ofVisitorAt } = listQueries[order];
    const bound = order === "asc" ? (query.toMs ?? Number.MAX_SAFE_INTEGER) : (query.fromMs ?? 0);
    const range = [after.createdAt, after.id, bound, limit, accountId];
    const read = (text: string, ...more: string[]) => queries.all<ListedRow>(text, [...range, ...more]);
    if (visitorId === null) return companionId === null ? read(ofAccount) : read(ofCompanion, companionId);
    return companionId === null ? read(ofVisitor, visitorId) : read(ofVisitorAt, visitorId, companionId);
  }

  const readerOf = createConversationReaders(engine, search);

  return {
    readerOf,

    async list(accountId: string, query: ConversationQuery, page: PageRequest): Promise<Page<Conversation>> {
      const { updatedSinceMs } = query;
      if (updatedSinceMs != null) {
        return await walkConversations(readerOf(accountId), { ...query, updatedSinceMs }, page);
      }
      const { limit, order = "desc" } = page;
      const q = query.q ?? "";
      const queries = q === "" ? engine.quick : engine.heavy;
      const found: ListedRow[] = [];
      let after = await startOf(queries, query, page);
      for (let leftText = textPerSearch; ; ) {
        const wanted = limit + 1 - found.length;
        const isUsual = q === "" && found.length === 0;
        const atOnce = isUsual ? wanted : Math.max(wanted, rowsPerSlice);
        const rows = await selectRows(queries, accountId, query, after, atOnce, order);
        let last = rows.length < atOnce ? null : (rows.at(-1) ?? null);
        const live = rows.filter(({ isLive }) => isLive);
        if (q === "") {
          found.push(...live);
        } else {
          const searched = await search(live, q, { wanted, maxText: leftText });
          found.push(...searched.found);
          leftText -= searched.read + live.length * textPerConversation;
          // It stopped before the end of the slice.
          if (searched.last !== null) last = searched.last;
        }
        const items = found.slice(0, limit).map(toConversation);
        if (found.length > limit) return { items, nextAfterId: items.at(-1)?.id ?? null };
        if (last === null) return { items, nextAfterId: null };
        if (leftText <= 0) return { items, nextAfterId: last.id };
        after = last;
      }
    },
  };
}

export const conversationWalkQueries = {
  /** Of figures about conversations, which read all periods. */
  updated: `SELECT c.updated_period AS period, c.number, c.companion_id AS "companionId", c.created_at AS "createdAt"
    FROM conversations c WHERE c.account_id = $1 AND (c.updated_period, c.number) > ($2::float8::bigint, $3::float8::bigint)
    ORDER BY c.account_id, c.updated_period, c.number LIMIT $4`,
  nextPeriod: `SELECT c.updated_period::float8 AS period FROM conversations c
    WHERE c.account_id = $1 AND c.updated_period >= $2::float8::bigint ORDER BY c.account_id, c.updated_period LIMIT 1`,
  lastPeriod: `SELECT c.updated_period::float8 AS period FROM conversations c
    WHERE c.account_id = $1 AND c.updated_period <= $2::float8::bigint
    ORDER BY c.account_id DESC, c.updated_period DESC LIMIT 1`,
  ofPeriod: `SELECT c.number::float8 AS number, c.updated_at::float8 AS "updatedAt", c.created_at::float8 AS "createdAt",
      c.companion_id AS "companionId", c.visitor_id AS "visitorId"
    FROM conversations c
    WHERE c.account_id = $1 AND c.updated_period = $2::float8::bigint AND c.number > $3::float8::bigint
    ORDER BY c.account_id, c.updated_period, c.number LIMIT $4`,
  number: "SELECT c.number::float8 AS number FROM conversations c WHERE c.id = $1",
  id: "SELECT c.id FROM conversations c WHERE c.number = $1::float8::bigint",
  // A subquery for one value: for EXISTS, PostgreSQL may read all companions first.
  live: `SELECT ${conversationColumns.select("c")} FROM conversations c
    WHERE c.number = ANY($1::float8[]::bigint[]) AND (c.account_id = $2) IS TRUE
      AND coalesce((SELECT true FROM companions k WHERE k.id = c.companion_id), false)`,
};

/** What lists of conversations by their last change read; `rows/conversation-walk.ts` decides what is read. */
function createConversationReaders(engine: PostgresEngine, search: ReturnType<typeof createMessageSearch>) {
  const queries = engine.heavy;
  return (accountId: string): ConversationReader => ({
    findNumber: async (id) =>
      (await queries.get<{ number: number }>(conversationWalkQueries.number, [id]))?.number ?? null,
    findId: async (number) => (await queries.get<{ id: string }>(conversationWalkQueries.id, [number]))?.id ?? null,
    async findPeriod(from, order) {
      const text = order === "asc" ? conversationWalkQueries.nextPeriod : conversationWalkQueries.lastPeriod;
      return (await queries.get<{ period: number }>(text, [accountId, from]))?.period ?? null;
    },
    listPeriod: (period, after, limit) =>
      queries.all<ConversationFacts>(conversationWalkQueries.ofPeriod, [accountId, period, after, limit]),
    async readConversations(numbers, q) {
      if (numbers.length === 0) return { found: [], cost: 0 };
      const rows = await queries.all<ConversationRow>(conversationWalkQueries.live, [numbers, accountId]);
      const byNumber = new Map(rows.map((row) => [row.number, row]));
      const live = numbers.map((number) => byNumber.get(number)).filter((row) => row !== undefined);
      if (q === "") return { found: live.map(toConversation), cost: live.length };
      const bounds = { wanted: live.length, maxText: Number.MAX_SAFE_INTEGER };
      const { found, read } = await search(live, q, bounds);
      return { found: found.map(toConversation), cost: live.length + Math.ceil(read / 1_000) };
    },
  });
}

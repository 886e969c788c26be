/** Lists of conversations, newest first by creation. */
import type { InferSelectModel } from "drizzle-orm";
import type { Conversation } from "../../domain/conversation.ts";
import type { ConversationQuery } from "../contract/conversations.ts";
import type { Page, PageRequest } from "../contract/page.ts";
import { findPlace, mostBefore, toConversation } from "../rows/conversation.ts";
import type { PostgresEngine } from "./engine.ts";
import { createMessageSearch } from "./message-search.ts";
import type { Queries } from "./queries.ts";
import { mapColumns } from "./rows/columns.ts";
import { conversations } from "./schema/conversations.ts";

const conversationColumns = mapColumns(conversations, ["accountId"]);

interface ListedRow extends Omit<InferSelectModel<typeof conversations>, "accountId"> {
  /** False if the companion was deleted, and the conversation only waits for its own deletion. */
  isLive: boolean;
}

interface Position {
  createdAt: number;
  id: string;
}

/** Conversations that are read at once, where many may have to be passed over. */
const rowsPerSlice = 200;
/** After reading so much text, a search returns what it has found, with a cursor to continue. */
const textPerSearch = 50_000_000;
/** What a conversation costs beside its text. */
const textPerConversation = 1_000;
/** Behind all ids. */
const afterAllIds = "~";

// A subquery for one value: for EXISTS, PostgreSQL may read all companions first.
function selectFrom(condition: string): string {
  return `SELECT ${conversationColumns.select("c")},
      coalesce((SELECT true FROM companions k WHERE k.id = c.companion_id), false) AS "isLive"
    FROM conversations c WHERE (c.created_at, c.id) < ($1, $2) AND c.created_at >= $3 AND ${condition}
    ORDER BY c.created_at DESC, c.id DESC LIMIT $4`;
}

// `|| ''` keeps PostgreSQL from an index that serves less. The second condition on the visitor tells it that it can use
// the partial one.
const ofVisitor = "c.account_id = $5 AND c.visitor_id = $6 AND c.visitor_id <> ''";
const listQueries = {
  ofAccount: selectFrom("c.account_id = $5"),
  ofCompanion: selectFrom("c.account_id || '' = $5 AND c.companion_id = $6"),
  ofVisitor: selectFrom(ofVisitor),
  ofVisitorAt: selectFrom(`${ofVisitor} AND c.companion_id || '' = $7`),
};
const selectPositions = `SELECT id, created_at::float8 AS "createdAt" FROM conversations WHERE id <= $1
  ORDER BY id DESC LIMIT ${mostBefore}`;

export function createConversationLists(engine: PostgresEngine) {
  const search = createMessageSearch(engine.heavy);

  /** Rows of the page come after this position. */
  async function startOf(queries: Queries, query: ConversationQuery, afterId: string | null): Promise<Position> {
    const end = { createdAt: query.toMs ?? Number.MAX_SAFE_INTEGER, id: "" };
    if (afterId === null) return end;
    const after = findPlace(await queries.all<Position>(selectPositions, [afterId]), afterId) ?? {
      createdAt: 0,
      id: "",
    };
    if (after.createdAt >= end.createdAt) return end;
    return after.id === afterId ? after : { ...after, id: after.id + afterAllIds };
  }

  function selectRows(queries: Queries, accountId: string, query: ConversationQuery, after: Position, limit: number) {
    const { companionId, visitorId } = query;
    const { ofAccount, ofCompanion, ofVisitor, ofVisitorAt } = listQueries;
    const range = [after.createdAt, after.id, query.fromMs ?? 0, limit, accountId];
    const read = (text: string, ...more: string[]) => queries.all<ListedRow>(text, [...range, ...more]);
    if (visitorId === null) return companionId === null ? read(ofAccount) : read(ofCompanion, companionId);
    return companionId === null ? read(ofVisitor, visitorId) : read(ofVisitorAt, visitorId, companionId);
  }

  return {
    async list(
      accountId: string,
      query: ConversationQuery,
      { limit, afterId }: PageRequest,
    ): Promise<Page<Conversation>> {
      const q = query.q ?? "";
      const queries = q === "" ? engine.quick : engine.heavy;
      const found: ListedRow[] = [];
      let after = await startOf(queries, query, afterId);
      for (let leftText = textPerSearch; ; ) {
        const wanted = limit + 1 - found.length;
        const isUsual = q === "" && found.length === 0;
        const atOnce = isUsual ? wanted : Math.max(wanted, rowsPerSlice);
        const rows = await selectRows(queries, accountId, query, after, atOnce);
        let last = rows.length < atOnce ? null : (rows.at(-1) ?? null);
        const live = rows.filter(({ isLive }) => isLive);
        if (q === "") {
          found.push(...live);
        } else {
          const searched = await search(live, q, { wanted, mostText: leftText });
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

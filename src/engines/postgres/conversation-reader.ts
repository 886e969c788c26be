/** What lists of conversations by their last change read; `rows/conversation-walk.ts` decides what is read. */
import { toConversation } from "../store-shared/rows/conversation.ts";
import type { ConversationFacts, ConversationReader } from "../store-shared/rows/conversation-walk.ts";
import type { PostgresEngine } from "./engine.ts";
import type { createMessageSearch } from "./message-search.ts";
import { type ConversationRow, conversationColumns } from "./rows/conversation.ts";

export const conversationWalkQueries = {
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

export function createConversationReaders(engine: PostgresEngine, search: ReturnType<typeof createMessageSearch>) {
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
      const bounds = { wanted: live.length, mostText: Number.MAX_SAFE_INTEGER };
      const { found, read } = await search(live, q, bounds);
      return { found: found.map(toConversation), cost: live.length + Math.ceil(read / 1_000) };
    },
  });
}

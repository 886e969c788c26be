/** What lists of conversations by their last change read; `rows/conversation-walk.ts` decides what is read. */
import type { SQLQueryBindings } from "bun:sqlite";
import { pause } from "../../lib/pause.ts";
import { toConversation } from "../store-shared/rows/conversation.ts";
import type { ConversationFacts, ConversationReader } from "../store-shared/rows/conversation-walk.ts";
import type { SqliteEngine } from "./engine.ts";
import { mapColumns, type StoredRow } from "./rows/columns.ts";
import { tables } from "./tables.ts";

/** Conversations as rows. */
export const conversationColumns = mapColumns(tables.conversations);

export type ConversationRow = StoredRow<typeof tables.conversations>;

/** About two milliseconds, after which streams continue. */
const textPerSlice = 1_000_000;

export const conversationWalkQueries = {
  /** Of figures about conversations, which read all periods. */
  updated: `SELECT p.period, p.number, c.companion_id AS companionId, c.created_at AS createdAt
    FROM conversation_periods p CROSS JOIN conversations c ON c.number = p.number
    WHERE p.account_id = $1 AND (p.period, p.number) > ($2, $3) ORDER BY p.period, p.number LIMIT $4`,
  nextPeriod: "SELECT period FROM conversation_periods WHERE account_id = ? AND period >= ? ORDER BY period LIMIT 1",
  lastPeriod:
    "SELECT period FROM conversation_periods WHERE account_id = ? AND period <= ? ORDER BY period DESC LIMIT 1",
  ofPeriod: `SELECT c.number, c.updated_at AS updatedAt, c.created_at AS createdAt, c.companion_id AS companionId,
      c.visitor_id AS visitorId
    FROM conversation_periods p CROSS JOIN conversations c ON c.number = p.number
    WHERE p.account_id = ? AND p.period = ? AND p.number > ? ORDER BY p.number LIMIT ?`,
};

export function createConversationReaders(
  engine: SqliteEngine,
  searchMessages: (conversationNumber: number, folded: string) => { isMatch: boolean; read: number },
) {
  const query = <Row>(text: string | (() => string)) => engine.query<Row, SQLQueryBindings[]>(text);
  const selectNumber = query<{ number: number }>("SELECT number FROM conversations WHERE id = ?");
  const selectId = query<{ id: string }>("SELECT id FROM conversations WHERE number = ?");
  const nextPeriod = query<{ period: number }>(conversationWalkQueries.nextPeriod);
  const lastPeriod = query<{ period: number }>(conversationWalkQueries.lastPeriod);
  const ofPeriod = query<ConversationFacts>(conversationWalkQueries.ofPeriod);
  const selectLive = query<ConversationRow>(
    () => `SELECT ${conversationColumns.select("c")} FROM conversations c
      WHERE c.number = ? AND c.account_id = ? AND EXISTS (SELECT 1 FROM companions WHERE id = c.companion_id)`,
  );

  return (accountId: string): ConversationReader => ({
    findNumber: (id) => engine.read(() => selectNumber.get(id)?.number ?? null),
    findId: (number) => engine.read(() => selectId.get(number)?.id ?? null),
    findPeriod: (from, order) =>
      engine.read(() => (order === "asc" ? nextPeriod : lastPeriod).get(accountId, from)?.period ?? null),
    listPeriod: (period, after, limit) => engine.read(() => ofPeriod.all(accountId, period, after, limit)),
    async readConversations(numbers, q) {
      const rows = await engine.snapshot(() => {
        return numbers.map((number) => selectLive.get(number, accountId)).filter((row) => row !== null);
      });
      const folded = q.toLowerCase();
      if (folded === "") return { found: rows.map(toConversation), cost: rows.length };
      const found: ConversationRow[] = [];
      let text = 0;
      let textOfSlice = 0;
      for (const row of rows) {
        const { isMatch, read } = await engine.read(() => searchMessages(row.number, folded));
        if (isMatch) found.push(row);
        text += read;
        textOfSlice += read;
        if (textOfSlice < textPerSlice) continue;
        textOfSlice = 0;
        await pause();
      }
      return { found: found.map(toConversation), cost: rows.length + Math.ceil(text / 1_000) };
    },
  });
}

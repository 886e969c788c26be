/** Exchanges that a client has named: stored once however often they run, and found again by that name. */
import type { SettledTurn, StoredExchange } from "../../contracts/store/turns.ts";
import { type ConversationKey, freeRepeats } from "../../domain/conversation.ts";
import type { StreamErrorCode } from "../../domain/stream-end.ts";
import { type ExchangeRow, toExchange } from "../store-shared/rows/conversation.ts";
import type { ConversationWriter } from "./conversation-writer.ts";
import type { SqliteEngine } from "./engine.ts";
import type { MessageEraser } from "./erasers.ts";

export type Exchanges = ReturnType<typeof createExchanges>;

// Named, since SQLite would choose the index of all messages, which has the order.
export const exchangeQuery = `SELECT number, id, role, text, complete, end_code AS endCode, created_at AS createdAt, repeats,
    (SELECT id FROM conversations WHERE conversations.number = conversation_number) AS conversationId
  FROM messages INDEXED BY messages_client WHERE conversation_number =
    (SELECT number FROM conversations WHERE companion_id = ? AND session_id = ? AND visitor_id = ?) AND client_id = ?
  ORDER BY created_at, number`;

export function createExchanges(engine: SqliteEngine, conversations: ConversationWriter, eraser: MessageEraser) {
  const select = engine.query<ExchangeRow & { number: number }, [string, string, string, string]>(exchangeQuery);

  const selectRows = ({ companionId, sessionId, visitorId }: ConversationKey, messageId: string) =>
    select.all(companionId, sessionId, visitorId ?? "", messageId);

  return {
    /** Call it inside a read. */
    find: (key: ConversationKey, messageId: string): StoredExchange | null => toExchange(selectRows(key, messageId)),

    /**
     * Call it inside a write. Adds what is not stored yet: of a turn that runs again the reply, or nothing if the
     * question is gone; and of one that is stored with its reply nothing, from any sender.
     */
    add(turn: SettledTurn, messageId: string): void {
      const { key, conversationId, messages, endCode } = turn;
      const facts = { clientId: messageId, endCode, sealedVisitor: turn.visitor?.sealed ?? null };
      const rows = selectRows(key, messageId);
      if (rows.some(({ role }) => role !== "user")) return;
      const [question] = rows;
      if (question === undefined) {
        if (messages[0]?.role === "user") conversations.add(key, conversationId, messages, facts);
        return;
      }
      const reply = messages.filter(({ role }) => role !== "user");
      if (reply.length > 0) conversations.add(key, conversationId, reply, facts);
      else if (question.endCode !== endCode || (question.repeats ?? 0) < freeRepeats) {
        eraser.noteRepeat(question.number, endCode);
      }
    },

    /** Call it inside a write: why a question that is stored without a reply has none. */
    noteEnd(key: ConversationKey, messageId: string, endCode: StreamErrorCode): void {
      const question = selectRows(key, messageId).at(-1);
      if (question?.role === "user") eraser.noteRepeat(question.number, endCode);
    },
  };
}

/** Exchanges that a client has named: stored once however often they run, and found again by that name. */
import type { ConversationKey, MessageRole } from "../../domain/conversation.ts";
import type { StreamErrorCode } from "../../domain/stream-end.ts";
import type { SettledTurn, StoredExchange } from "../contract/turns.ts";
import type { ConversationWriter } from "./conversation-writer.ts";
import type { SqliteEngine } from "./engine.ts";
import type { MessageEraser } from "./message-eraser.ts";

interface ExchangeRow {
  number: number;
  role: MessageRole;
  text: string;
  complete: number;
  endCode: StreamErrorCode | null;
  createdAt: number;
}

export type Exchanges = ReturnType<typeof createExchanges>;

// Named, since SQLite would choose the index of all messages, which has the order.
export const exchangeQuery = `SELECT number, role, text, complete, end_code AS endCode, created_at AS createdAt
  FROM messages INDEXED BY messages_client WHERE conversation_number =
    (SELECT number FROM conversations WHERE companion_id = ? AND session_id = ? AND visitor_id = ?) AND client_id = ?
  ORDER BY created_at, number`;

export function createExchanges(engine: SqliteEngine, conversations: ConversationWriter, eraser: MessageEraser) {
  const select = engine.query<ExchangeRow, [string, string, string, string]>(exchangeQuery);

  function selectRows(key: ConversationKey, messageId: string) {
    const rows = select.all(key.companionId, key.sessionId, key.visitorId ?? "", messageId);
    const question = rows.find(({ role }) => role === "user");
    return { question, said: rows.filter(({ role }) => role !== "user") };
  }

  return {
    /** Call it inside a read. */
    find(key: ConversationKey, messageId: string): StoredExchange | null {
      const { question, said } = selectRows(key, messageId);
      if (question === undefined) return null;
      const last = said.at(-1);
      const { endCode, createdAt } = last ?? question;
      return {
        question: question.text,
        reply: last === undefined ? null : said.map(({ text }) => text).join(""),
        isComplete: last?.complete === 1,
        endCode,
        endedAtMs: createdAt,
      };
    },

    /**
     * Call it inside a write. Adds what is not stored yet: of a turn that runs again the reply, or nothing if the
     * question is gone; and of one that is stored with its reply nothing, whoever sends it.
     */
    add(turn: SettledTurn, messageId: string): void {
      const { key, conversationId, messages, endCode, isCounted } = turn;
      const facts = { clientId: messageId, endCode, sealedVisitor: turn.visitor?.sealed ?? null };
      const { question, said } = selectRows(key, messageId);
      if (said.length > 0) return;
      if (question === undefined) {
        if (isCounted) conversations.add(key, conversationId, messages, facts);
        return;
      }
      const reply = messages.filter(({ role }) => role !== "user");
      if (reply.length > 0) conversations.add(key, conversationId, reply, facts);
      else if (question.endCode !== endCode) eraser.replaceEndCode(question.number, endCode);
    },
  };
}

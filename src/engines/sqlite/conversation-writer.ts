/** Adds messages to a conversation, which is created if new; shared by text turns and voice transcripts. */
import type { ConversationKey, Message } from "../../domain/conversation.ts";
import type { SqliteEngine } from "./engine.ts";
import { createMessageInsert, type ExchangeMark } from "./rows/message.ts";

export type ConversationWriter = ReturnType<typeof createConversationWriter>;

/** What is kept with the messages beside their words. */
export interface AddedFacts extends ExchangeMark {
  /** Replaces the conversation's data of its visitor; null leaves it. */
  sealedVisitor: string | null;
}

const nothingElse: AddedFacts = { clientId: null, endCode: null, sealedVisitor: null };

export function createConversationWriter(engine: SqliteEngine) {
  // Selecting from companions adds nothing if the companion is deleted. Turns follow each other: if the clock was set
  // back and a turn seems to begin before the last message, it moves behind that message with all its own.
  const upsert = engine.query<
    { number: number; updated_at: number; message_count: number },
    [string, string, string, string | null, number, number, number, string, number]
  >(
    `INSERT INTO conversations (id, account_id, companion_id, session_id, visitor_id, sealed_visitor, message_count,
       created_at, updated_at)
     SELECT ?, account_id, id, ?, ?, ?, ?, ?, ? FROM companions WHERE id = ?
     ON CONFLICT (companion_id, session_id, visitor_id) DO UPDATE SET
       sealed_visitor = ifnull(excluded.sealed_visitor, sealed_visitor),
       message_count = message_count + excluded.message_count,
       updated_at = max(updated_at + ? * (excluded.updated_at - excluded.created_at), excluded.updated_at)
     RETURNING number, updated_at, message_count`,
  );
  const insertMessage = createMessageInsert(engine);

  return {
    /** Call it inside a write; false if the companion is deleted. `messages` in order of time. */
    add(key: ConversationKey, conversationId: string, messages: readonly Message[], facts = nothingElse): boolean {
      const [first] = messages;
      if (first === undefined) return true;
      const { createdAt } = first;
      const isTurn = first.channel === "text";
      const last = messages.at(-1) ?? first;
      const updatedAt = last.createdAt;
      const conversation = upsert.get(
        ...([conversationId, key.sessionId, key.visitorId ?? "", facts.sealedVisitor] as const),
        ...([messages.length, createdAt, updatedAt, key.companionId, isTurn ? 1 : 0] as const),
      );
      if (conversation === null) return false;
      const delayMs = isTurn ? conversation.updated_at - updatedAt : 0;
      const before = facts.endCode === null ? facts : { ...facts, endCode: null };
      let seq = conversation.message_count - messages.length;
      for (const message of messages) {
        insertMessage(
          { conversationNumber: conversation.number, seq: ++seq },
          message,
          delayMs,
          message === last ? facts : before,
        );
      }
      return true;
    },
  };
}

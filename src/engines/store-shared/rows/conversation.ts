/** Conversations, and exchanges that clients have named, as both engines store them and as the domain knows them. */
import type { StoredExchange } from "../../../contracts/store/turns.ts";
import type { Conversation, MessageRole } from "../../../domain/conversation.ts";
import type { StreamErrorCode } from "../../../domain/stream-end.ts";

/** Without what only the store knows of it. */
export function toConversation({
  id,
  companionId,
  sessionId,
  visitorId,
  sealedVisitor,
  messageCount,
  createdAt,
  updatedAt,
}: Conversation & { visitorId: string }): Conversation {
  const key = { companionId, sessionId, visitorId: toVisitorId(visitorId) };
  return { id, ...key, sealedVisitor, messageCount, createdAt, updatedAt };
}

/** An empty text stands for no visitor. */
export function toVisitorId(stored: string): string | null {
  return stored === "" ? null : stored;
}

/** How many conversations `findPosition` is given. */
export const maxBefore = 50;

/**
 * Where a list goes on: the conversation of that id; if it was deleted, the newest of those with ids before it. The very
 * one before it may be that of a call, which began long before its transcript came.
 *
 * `rows` have the id or smaller ones, the greatest first.
 */
export function findPosition<Row extends { id: string; createdAt: number }>(
  rows: readonly Row[],
  id: string,
): Row | null {
  const [before = null] = rows;
  if (before === null || before.id === id) return before;
  return rows.reduce((newest, row) => (row.createdAt > newest.createdAt ? row : newest), before);
}

export interface ExchangeRow {
  id: string;
  conversationId: string;
  role: MessageRole;
  text: string;
  complete: boolean | number;
  endCode: StreamErrorCode | null;
  createdAt: number;
  repeats: number | null;
}

/**
 * Exchanges that clients have named, as both engines store them. `rows` in order of time; null if the question is not
 * among them.
 */
export function toExchange(rows: readonly ExchangeRow[]): StoredExchange | null {
  const question = rows.find(({ role }) => role === "user");
  if (question === undefined) return null;
  const reply = rows.findLast(({ role }) => role === "assistant");
  const { endCode, createdAt } = reply ?? question;
  return {
    conversationId: question.conversationId,
    questionId: question.id,
    replyId: reply?.id ?? null,
    question: question.text,
    reply: reply?.text ?? null,
    isComplete: Boolean(reply?.complete),
    endCode,
    endedAtMs: createdAt,
    repeats: question.repeats ?? 0,
  };
}

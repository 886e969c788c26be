/** Exchanges that clients have named, as both engines store them. */
import type { StoredExchange } from "../../../contracts/store/turns.ts";
import type { MessageRole } from "../../../domain/conversation.ts";
import type { StreamErrorCode } from "../../../domain/stream-end.ts";

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

/** `rows` in order of time; null if the question is not among them. */
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

/** What a turn reports to the account's webhooks. */
import type { NewEvent, TurnEvents } from "../../contracts/store/store.ts";
import type { Companion } from "../../domain/companion.ts";
import { type ConversationKey, toFinishReason } from "../../domain/conversation.ts";
import { failedEndCodes, type StreamErrorCode } from "../../domain/stream-end.ts";
import { visitorFactsOf } from "../../domain/visitor.ts";
import type { EventContent, EventType } from "../../domain/webhook.ts";

export interface ReportedTurn {
  companion: Companion;
  key: ConversationKey;
  sealedVisitor: string | null;
  /** The conversation's if it is new: of this turn alone. */
  newId: string;
  /** The client's name for the message; null if it gave none. */
  clientId: string | null;
  /** As they are stored; null for nothing. */
  questionId: string | null;
  replyId: string | null;
  complete: boolean;
  endCode: StreamErrorCode | null;
  finishReason: string | null;
  atMs: number;
}

export function toTurnEvents(turn: ReportedTurn): TurnEvents {
  const { complete, endCode, questionId, replyId } = turn;
  const started = eventOf(turn, "conversation.started", "_started");
  const ids = { message_id: turn.clientId ?? questionId, question_id: questionId, reply_id: replyId };
  const content = toContent({ message: questionId, reply: replyId });
  if (complete) {
    const data = { ...ids, finish_reason: toFinishReason(turn.finishReason) };
    return { started, ended: { ...eventOf(turn, "message.completed"), data, content } };
  }
  if (endCode === null || !failedEndCodes.includes(endCode)) return { started, ended: null };
  return { started, ended: { ...eventOf(turn, "message.failed"), data: { ...ids, reason: endCode }, content } };
}

export function toUnansweredEvent(turn: ReportedTurn, questionId: string): NewEvent {
  const data = { message_id: turn.clientId ?? questionId, question_id: questionId };
  return { ...eventOf(turn, "question.unanswered", "_unanswered"), data, content: { question: questionId } };
}

function eventOf(turn: ReportedTurn, type: EventType, part = ""): NewEvent {
  const { companion, key, sealedVisitor, newId, atMs } = turn;
  const { accountId, id: companionId } = companion;
  const { sessionId, visitorId } = key;
  return {
    ...{ id: `msg_${newId}${part}`, accountId, type, atMs, companionId, sessionId, visitorId, sealedVisitor },
    facts: visitorFactsOf(companion),
    data: type === "conversation.started" ? { channel: "text" } : {},
    content: null,
  };
}

function toContent(ids: Readonly<Record<string, string | null>>): EventContent | null {
  const known = Object.entries(ids).filter((entry): entry is [string, string] => entry[1] !== null);
  return known.length === 0 ? null : Object.fromEntries(known);
}

/** What becomes of a conversation when its visitor, or someone on the team, writes into it. Pure. */
import type { DecidedOn, HandoffChange } from "../../contracts/store/handoffs.ts";
import { type Message, textParts, uncounted } from "../../domain/conversation.ts";
import { AppError } from "../../domain/errors.ts";
import { answerMailAfterMs, isOutside, maxDayMessages, type Person, stateConflict } from "../../domain/handoff.ts";
import { secondsToMidnight, toUtcDay } from "../../lib/clock.ts";
import { type Deciding, eventOf, idleUntil, noNotice, noticeFields, toEventPerson } from "./change.ts";

export interface Written {
  /** Of the message that is made of it. */
  readonly id: string;
  readonly text: string;
  /** The client's name; null for none. */
  readonly clientId: string | null;
}

export interface VisitorsMessage extends Written {
  readonly sealedVisitor: string | null;
  /** Whether it is answered by a stream without events, which brings what people wrote. */
  readonly isPlain: boolean;
}

/** Null: it is the companion's, or kept already. One that was stored, and never answered, is people's now. Throws `quota_exceeded`. */
export function decideKeep(on: DecidedOn, by: Deciding, sent: VisitorsMessage): HandoffChange | null {
  const { handoff, newestSeq, knownSeq, unansweredId } = on;
  if (!isOutside(handoff)) return null;
  if (knownSeq !== null && unansweredId === null) {
    return sent.isPlain && handoff.plainSeq < newestSeq ? { fields: { plainSeq: newestSeq } } : null;
  }
  const day = toUtcDay(by.nowMs);
  const dayMessages = handoff.day === day ? handoff.dayMessages : 0;
  if (dayMessages >= maxDayMessages) {
    throw new AppError("quota_exceeded", "You have sent all your messages here for today. Try again tomorrow.", {
      retryAfterSeconds: secondsToMidnight(by.nowMs),
    });
  }
  const id = unansweredId ?? sent.id;
  const ids = { message_id: sent.clientId ?? id, question_id: id };
  const current = { ...on, sealedVisitor: sent.sealedVisitor ?? on.sealedVisitor };
  return {
    fields: {
      ...{ day, dayMessages: dayMessages + 1, status: "open", isResolved: null },
      owedSinceMs: handoff.owedSinceMs ?? by.nowMs,
      ...(handoff.state === "person" && {
        untilMs: idleUntil(by),
        ...(handoff.noticeAtMs === null && noticeFields(on, by)),
      }),
      ...(sent.isPlain && { plainSeq: newestSeq + (unansweredId === null ? 1 : 0) }),
    },
    ...(unansweredId === null
      ? {
          message: {
            ...{ message: toMessage(sent, "user", by.nowMs), author: null },
            ...{ clientId: sent.clientId, sealedVisitor: sent.sealedVisitor },
          },
        }
      : { leavesKnown: true }),
    audit: null,
    webhookEvents: [eventOf(current, by, "message.visitor", ids, { message: id })],
  };
}

/** Null: it was written already. Throws `conflict` unless the conversation is theirs. */
export function decideSay(on: DecidedOn, by: Deciding, said: Written & { person: Person }): HandoffChange | null {
  const { handoff } = on;
  if (on.knownSeq !== null) return null;
  requireWritable(on, by, said.person);
  const isTheirs = handoff?.state === "person";
  const data = { message_id: said.clientId, reply_id: said.id, person: toEventPerson(said.person) };
  return {
    fields: {
      ...{ status: "answered", owedSinceMs: null, ...noNotice },
      ...(isTheirs && { untilMs: idleUntil(by) }),
      ...(handoff?.hasContact && { answerMailAtMs: handoff.answerMailAtMs ?? by.nowMs + answerMailAfterMs }),
    },
    message: {
      ...{ message: toMessage(said, "assistant", by.nowMs), author: said.person },
      ...{ clientId: said.clientId, sealedVisitor: null },
    },
    audit: null,
    webhookEvents: [eventOf(on, by, "message.person", data, { text: said.id })],
  };
}

function requireWritable({ handoff }: DecidedOn, { companion }: Deciding, person: Person): void {
  if (handoff?.state === "person" && handoff.person?.id === person.id) return;
  // Nothing can be taken there: the visitor who left a contact is written to, and the companion goes on.
  if (companion.handoff === null && handoff !== null && (handoff.isAsked || handoff.status !== null)) return;
  throw stateConflict("This conversation is not yours any more. Take it again.", handoff);
}

function toMessage({ id, text }: Written, role: Message["role"], createdAt: number): Message {
  return { ...{ id, role, channel: "text", parts: textParts(text) }, ...uncounted, complete: true, createdAt };
}

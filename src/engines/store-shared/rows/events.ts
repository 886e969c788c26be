/** Events that the store emits on its own, since only it knows when they happen. */
import type { ReachedBudget } from "../../../contracts/store/spending.ts";
import type { NewEvent } from "../../../contracts/store/webhooks.ts";
import type { WriteContext } from "../../../contracts/store/write-context.ts";
import { type Budget, factsOfSubject } from "../../../domain/budget.ts";
import type { ConversationKey } from "../../../domain/conversation.ts";
import type { JsonObject } from "../../../domain/json.ts";
import { visitorFactsOf } from "../../../domain/visitor.ts";

const ofNobody = { companionId: null, sessionId: null, visitorId: null, sealedVisitor: null, content: null };

interface ChangedCompanion {
  id: string;
  name: string;
  metadata: JsonObject;
}

export function companionEvent(
  type: "companion.created" | "companion.updated" | "companion.deleted",
  accountId: string,
  { id, name, metadata }: ChangedCompanion,
  { auditId, nowMs: atMs }: WriteContext,
  changed?: readonly string[],
): NewEvent {
  const facts = visitorFactsOf({ id, metadata });
  const data = { companion_id: id, name, metadata, ...(changed && { changed: [...changed] }) };
  // Not as its companion's: that one's removal empties events about its visitors, and this one must arrive.
  // Many are created together, and each once.
  const of = type === "companion.created" ? id : auditId;
  return { ...ofNobody, id: `msg_${of}`, accountId, type, atMs, facts, data };
}

export function budgetEvent(
  { id, subject, limitMicros: limit_micros, period, action }: Omit<Budget, "createdAt" | "updatedAt">,
  accountId: ReachedBudget["accountId"],
  atMs: number,
): NewEvent {
  const data = { budget_id: id, subject: subject as JsonObject, limit_micros, period, action };
  const facts = factsOfSubject(subject);
  return { ...ofNobody, id: `msg_${id}_${atMs}`, accountId, type: "budget.reached", atMs, facts, data };
}

interface KeptTranscript {
  accountId: string;
  key: ConversationKey;
  sealedVisitor: string | null;
  metadata: JsonObject;
  /** The conversation's if it is new: of this transcript alone. */
  newId: string;
  messages: readonly { id: string; createdAt: number }[];
}

/** Of the conversation `id`, which has the messages now. */
export function transcriptEvents(transcript: KeptTranscript, id: string): NewEvent[] {
  const { accountId, key, sealedVisitor, metadata, newId, messages } = transcript;
  const { companionId, sessionId, visitorId } = key;
  const facts = visitorFactsOf({ id: companionId, metadata });
  const whose = { accountId, facts, companionId, sessionId, visitorId, sealedVisitor };
  const atMs = messages.at(-1)?.createdAt ?? 0;
  const content = { messages: messages.map((message) => message.id) };
  const data = { message_id: null, message_count: messages.length };
  const spoken: NewEvent = { ...whose, id: `msg_${newId}`, type: "voice.transcript", atMs, data, content };
  if (id !== newId) return [spoken];
  const started = { id: `msg_${newId}_started`, type: "conversation.started", content: null } as const;
  return [{ ...whose, ...started, atMs, data: { channel: "voice" } }, spoken];
}

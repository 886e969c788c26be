/** Stores events for the webhooks that want them, in PostgreSQL, inside the transactions of what they report. */
import type { NewEvent, TurnEvents } from "../../contracts/store/webhooks.ts";
import type { ConversationKey } from "../../domain/conversation.ts";
import type { DeliveryBell } from "../store-shared/scripts/event-deliveries.ts";
import type { Parameter } from "./queries.ts";
import type { Transaction } from "./transaction.ts";

/** As in SQLite. */
export const hasWebhooks = (account: string) =>
  `EXISTS (SELECT FROM webhooks w WHERE w.account_id = ${account} AND w.enabled)`;

const emitEvents = "SELECT tell_events($1::text::jsonb) AS stored";
const selectConversation =
  "SELECT id FROM conversations WHERE companion_id = $1 AND session_id = $2 AND visitor_id = $3";

/** What a turn of a batch reports, after it was settled. */
export interface ReportedTurn {
  key: ConversationKey;
  events: TurnEvents;
  /** Of the conversation if it is new. */
  newId: string;
  /** Of the last message that is to be stored; null for nothing. */
  lastId: string | null;
  arrivalMark: string;
}

export type EventWriter = ReturnType<typeof createEventWriter>;

export function createEventWriter(bell: DeliveryBell) {
  async function emit(
    transaction: Transaction,
    events: readonly NewEvent[],
    conversationId: string | null = null,
  ): Promise<void> {
    if (events.length === 0) return;
    const reported = JSON.stringify(events.map((event) => ({ ...toStored(event), conversationId })));
    const row = await transaction.get<{ stored: number }>(emitEvents, [reported]);
    if ((row?.stored ?? 0) > 0) transaction.afterCommit(() => bell.ring());
  }

  return {
    emit,

    /** The same for events of a conversation; nothing if there is none. */
    async emitOf(
      transaction: Transaction,
      { companionId, sessionId, visitorId }: ConversationKey,
      toEvents: (id: string) => readonly NewEvent[],
    ): Promise<void> {
      const key = [companionId, sessionId, visitorId ?? ""];
      const conversation = await transaction.get<{ id: string }>(selectConversation, key);
      if (conversation !== null) await emit(transaction, toEvents(conversation.id), conversation.id);
    },
  };
}

/** Of `settle_turns`. */
export function toReportParameter(turns: readonly ReportedTurn[]): Parameter {
  const reported = turns.map(({ key, events: { started, ended }, newId, lastId, arrivalMark: mark }) => {
    const { companionId, sessionId, visitorId } = key;
    const events = { started: toStored(started), ended: ended && toStored(ended) };
    return { companionId, sessionId, visitorId: visitorId ?? "", newId, lastId, mark, ...events };
  });
  return JSON.stringify(reported);
}

/** What is text in the table goes as text. */
function toStored({ data, content, ...event }: NewEvent) {
  return { ...event, data: JSON.stringify(data), content: content && JSON.stringify(content) };
}

/** Stores events for the webhooks that want them, in SQLite, inside the writes of what they report. */
import type { NewEvent, TurnEvents } from "../../contracts/store/webhooks.ts";
import type { ConversationKey } from "../../domain/conversation.ts";
import { budgetEvent } from "../store-shared/rows/events.ts";
import type { DeliveryBell } from "../store-shared/scripts/event-deliveries.ts";
import type { SqliteEngine } from "./engine.ts";
import { mapColumns } from "./rows/columns.ts";
import { tables } from "./tables.ts";

interface WebhookRow {
  id: string;
  events: string;
  facts: string;
  includeContent: number;
}

export type EventWriter = ReturnType<typeof createEventWriter>;

/** A 1 if the account has an enabled webhook, read along with the rest of a query. `account`: an expression for its id. */
export const hasWebhooks = (account: string) =>
  `EXISTS (SELECT 1 FROM webhooks WHERE account_id = ${account} AND enabled)`;

export function createEventWriter(engine: SqliteEngine, bell: DeliveryBell) {
  const selectWebhooks = engine.query<WebhookRow, [string]>(
    `SELECT id, events, facts, include_content AS includeContent FROM webhooks INDEXED BY webhooks_enabled
     WHERE account_id = ? AND enabled ORDER BY id`,
  );
  const selectWaiting = engine.query<{ one: number }, [string, string]>(
    `SELECT 1 AS one FROM webhook_deliveries INDEXED BY webhook_deliveries_waiting
     WHERE webhook_id = ? AND conversation_id = ? AND state = 'waiting' LIMIT 1`,
  );
  const selectSubject = engine.query<{ subject: string }, [string]>("SELECT subject FROM budgets WHERE id = ?");
  const insert = mapColumns(tables.webhookDeliveries).createInsert(engine, "ON CONFLICT DO NOTHING");
  const selectConversation = engine.query<{ id: string }, [string, string, string]>(
    "SELECT id FROM conversations WHERE companion_id = ? AND session_id = ? AND visitor_id = ?",
  );
  // The last message of a turn is as old as its conversation's last change.
  const selectStored = engine.query<{ id: string }, [string, string, string, string]>(
    `SELECT c.id FROM conversations c WHERE c.companion_id = ? AND c.session_id = ? AND c.visitor_id = ? AND EXISTS
       (SELECT 1 FROM messages m
        WHERE m.conversation_number = c.number AND m.created_at = c.updated_at AND m.id = ?)`,
  );

  /** Call it inside a write. */
  function emit(event: NewEvent, conversationId: string | null = null): void {
    const { id, type, facts, companionId, sessionId, visitorId, sealedVisitor, data } = event;
    const known = new Set(facts);
    for (const webhook of selectWebhooks.all(event.accountId)) {
      const wanted: string[] = JSON.parse(webhook.events);
      if (!wanted.includes("*") && !wanted.includes(type)) continue;
      if (!(JSON.parse(webhook.facts) as string[]).every((fact) => known.has(fact))) continue;
      const isNext = conversationId === null || selectWaiting.get(webhook.id, conversationId) === null;
      insert({
        ...{ webhookId: webhook.id, id, type, companionId, conversationId, sessionId, visitorId, sealedVisitor, data },
        content: webhook.includeContent === 1 ? event.content : null,
        ...{ state: "waiting", attempts: 0, status: null, problem: null, attemptedAt: null },
        createdAt: event.atMs,
        dueAt: isNext ? event.atMs : null,
      });
      // The commit follows in this turn of the event loop.
      setImmediate(() => bell.ring());
    }
  }

  return {
    emit,

    /** That a budget has reached its limit. Call it inside a write. */
    emitReached(budget: Omit<Parameters<typeof budgetEvent>[0], "subject">, accountId: string, atMs: number): void {
      const row = selectSubject.get(budget.id);
      if (row !== null) emit(budgetEvent({ ...budget, subject: JSON.parse(row.subject) }, accountId, atMs));
    },

    /** The same for an event of a conversation; nothing if there is none. Call it inside a write. */
    emitOf(
      { companionId, sessionId, visitorId }: ConversationKey,
      toEvents: (id: string) => readonly NewEvent[],
    ): void {
      const conversation = selectConversation.get(companionId, sessionId, visitorId ?? "");
      if (conversation === null) return;
      for (const event of toEvents(conversation.id)) emit(event, conversation.id);
    },

    /**
     * Call it inside a write, after the turn was stored. `lastId`: of the last message that it was to store; null for
     * nothing. `newId`: of the conversation if it is new.
     */
    emitTurn(
      { started, ended }: TurnEvents,
      { companionId, sessionId, visitorId }: ConversationKey,
      { newId, lastId }: { newId: string; lastId: string | null },
    ): void {
      const key = [companionId, sessionId, visitorId ?? ""] as const;
      if (lastId === null) {
        if (ended !== null) emit(ended, selectConversation.get(...key)?.id ?? null);
        return;
      }
      const stored = selectStored.get(...key, lastId);
      if (stored === null) return;
      if (stored.id === newId) emit(started, stored.id);
      if (ended !== null) emit(ended, stored.id);
    },
  };
}

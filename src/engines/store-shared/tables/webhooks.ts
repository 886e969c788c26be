/** Tables of webhooks and of what is delivered to them. */
import { sql } from "drizzle-orm";
import type { JsonObject } from "../../../domain/json.ts";
import type { VisitorKeyFilter } from "../../../domain/visitor.ts";
import type { DeliveryState, EventContent, EventType, WantedEvent } from "../../../domain/webhook.ts";
import type { AccountTables } from "./accounts.ts";
import type { Dialect } from "./dialect.ts";

export function webhookTables(dialect: Dialect, { accounts }: Pick<AccountTables, "accounts">) {
  const { table, number, text, whole, small, boolean, json, index, uniqueIndex, inPostgres } = dialect;

  const webhooks = table(
    "webhooks",
    () => ({
      id: text("id").primaryKey(),
      accountId: text("account_id")
        .notNull()
        .references(() => accounts.id, { onDelete: "cascade" }),
      url: text("url").notNull(),
      events: json<WantedEvent[]>("events").notNull(),
      includeContent: boolean("include_content").notNull(),
      metadata: json<VisitorKeyFilter>("metadata"),
      /** Of the filter: what must be among an event's facts, all of it. */
      facts: json<string[]>("facts").notNull(),
      enabled: boolean("enabled").notNull(),
      disabledReason: text("disabled_reason"),
      sealedSecret: text("sealed_secret").notNull(),
      createdAt: whole("created_at").notNull(),
      updatedAt: whole("updated_at").notNull(),
    }),
    (row) => [
      index("webhooks_account").on(row.accountId, row.id),
      index("webhooks_enabled").on(row.accountId, row.id).where(sql`enabled`),
    ],
  );

  /** No foreign key: those of a deleted webhook are deleted in chunks, after it. */
  const webhookDeliveries = table(
    "webhook_deliveries",
    () => ({
      /** In the order in which they are written, which for a conversation is that of its events. */
      number: number(),
      webhookId: text("webhook_id").notNull(),
      id: text("id").notNull(),
      type: text<EventType>("type").notNull(),
      companionId: text("companion_id"),
      conversationId: text("conversation_id"),
      sessionId: text("session_id"),
      visitorId: text("visitor_id"),
      sealedVisitor: text("sealed_visitor"),
      /** Null once what it is about was erased. */
      data: json<JsonObject>("data"),
      content: json<EventContent>("content"),
      state: text<DeliveryState>("state").notNull(),
      attempts: small("attempts").notNull(),
      /** While it waits; null if another one of its conversation goes first. */
      dueAt: whole("due_at"),
      status: small("status"),
      problem: text("problem"),
      createdAt: whole("created_at").notNull(),
      attemptedAt: whole("attempted_at"),
    }),
    (row) => [
      uniqueIndex("webhook_deliveries_id").on(row.webhookId, row.id),
      index("webhook_deliveries_webhook").on(row.webhookId, ...inPostgres(row.number)),
      index("webhook_deliveries_due")
        .on(row.dueAt, ...inPostgres(row.number))
        .where(sql`due_at IS NOT NULL`),
      index("webhook_deliveries_waiting")
        .on(row.webhookId, row.conversationId, ...inPostgres(row.number))
        .where(sql`state = 'waiting'`),
      index("webhook_deliveries_conversation").on(row.conversationId).where(sql`conversation_id IS NOT NULL`),
      index("webhook_deliveries_visitor").on(row.companionId, row.visitorId).where(sql`companion_id IS NOT NULL`),
    ],
  );

  return { webhooks, webhookDeliveries };
}

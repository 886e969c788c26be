/** Rows of webhooks: what is stored as JSON, and SQLite's booleans, which are numbers. */
import type { SealedWebhook } from "../../../contracts/store/webhooks.ts";
import { factsOfFilter, type VisitorKeyFilter } from "../../../domain/visitor.ts";
import type { StoredEvent, Webhook } from "../../../domain/webhook.ts";

export type WebhookRow = Omit<SealedWebhook, "events" | "metadata" | "enabled" | "includeContent"> & {
  events: string;
  metadata: string | null;
  enabled: boolean | number;
  includeContent: boolean | number;
};
export type EventRow = Omit<StoredEvent, "data" | "content"> & { data: string | null; content: string | null };

/** Of an event's, all must be true. */
export function toFilterFacts(filter: VisitorKeyFilter): string[] {
  return filter === null ? [] : factsOfFilter(filter);
}

export function toWebhook({ events, metadata, enabled, includeContent, ...row }: WebhookRow): SealedWebhook {
  return {
    ...row,
    events: JSON.parse(events),
    metadata: metadata === null ? null : JSON.parse(metadata),
    enabled: Boolean(enabled),
    includeContent: Boolean(includeContent),
  };
}

export function toShownWebhook(row: WebhookRow): Webhook {
  const { sealedSecret: _, ...webhook } = toWebhook(row);
  return webhook;
}

export function toEvent({ data, content, ...row }: EventRow): StoredEvent {
  return { ...row, data: JSON.parse(data ?? "{}"), content: content === null ? null : JSON.parse(content) };
}

/** A webhook while it is edited, and what is sent of it; and its events in words. */
import { toAddress } from "../lib/address.ts";
import { changedFields } from "../lib/api.ts";
import { findPairsProblem, type MetadataPair, toMetadata, toPairs } from "../lib/metadata-pairs.ts";
import type { Webhook } from "../lib/types.ts";

type Wanted = Webhook["events"][number];
export type EventType = Exclude<Wanted, "*">;

export const eventWords: Readonly<Record<EventType, string>> = {
  "conversation.started": "A conversation begins",
  "message.completed": "A reply is complete",
  "message.failed": "The model failed to reply",
  "question.unanswered": "A question found nothing in the sources",
  "voice.transcript": "A spoken conversation is stored",
  "handoff.requested": "A person is asked for",
  "handoff.taken": "A person takes a conversation",
  "handoff.released": "A conversation is the companion's again",
  "handoff.missed": "No one took a conversation",
  "message.visitor": "A visitor writes to a person",
  "message.person": "A person writes to a visitor",
  "conversation.updated": "Status, assignee or tags of a conversation change",
  "contact.given": "A visitor leaves a contact",
  "rating.given": "A visitor rates a reply",
  "visitor.erased": "A visitor was erased",
  "budget.reached": "A budget has reached its limit",
  "companion.created": "A companion was created",
  "companion.updated": "A companion was changed",
  "companion.deleted": "A companion was deleted",
};

export const eventTypes = Object.keys(eventWords) as EventType[];

export interface WebhookDraft {
  address: string;
  isForAll: boolean;
  /** Those that are chosen, where not all are. */
  events: readonly EventType[];
  includeContent: boolean;
  isEnabled: boolean;
  /** Null for events of all companions. */
  pairs: readonly MetadataPair[] | null;
}

export function toWebhookDraft(webhook: Webhook | null): WebhookDraft {
  const events = webhook?.events ?? [];
  return {
    address: webhook?.url ?? "",
    isForAll: events.includes("*"),
    events: events.filter((event) => event !== "*"),
    includeContent: webhook?.include_content ?? false,
    isEnabled: webhook?.enabled ?? true,
    pairs: webhook?.metadata ? toPairs(webhook.metadata) : null,
  };
}

export type WebhookProblems = Partial<Record<"url" | "events" | "metadata", string>>;

export function findWebhookProblems({ address, isForAll, events, pairs }: WebhookDraft): WebhookProblems {
  const problems: WebhookProblems = {};
  if (address.trim() === "") problems.url = "Enter your server's URL.";
  if (!isForAll && events.length === 0) problems.events = "Choose at least one.";
  const filter = pairs === null ? undefined : findPairsProblem(pairs);
  if (filter !== undefined) problems.metadata = filter;
  return problems;
}

type WebhookBody = Pick<Webhook, "url" | "events" | "include_content" | "enabled" | "metadata">;

/** Of a draft without problems. */
export function toWebhookBody({ address, isForAll, events, pairs, ...draft }: WebhookDraft): WebhookBody {
  return {
    url: toAddress(address),
    // In one order, so that what is chosen again is no change.
    events: isForAll ? ["*"] : eventTypes.filter((event) => events.includes(event)),
    include_content: draft.includeContent,
    enabled: draft.isEnabled,
    metadata: pairs === null ? null : toMetadata(pairs),
  };
}

const words: Record<keyof WebhookBody, string> = {
  url: "address",
  events: "events",
  include_content: "message contents",
  enabled: "whether it is enabled",
  metadata: "companions",
};

/** What differs between two versions, in words of the form. */
export function findWebhookChanges(before: Webhook, after: Webhook): string[] {
  const changed = changedFields(toWebhookBody(toWebhookDraft(before)), toWebhookBody(toWebhookDraft(after)));
  return Object.keys(changed).map((name) => words[name as keyof WebhookBody]);
}

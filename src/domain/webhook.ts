/** Webhooks: what an account's own servers are notified of, and how often that is tried. */
import type { JsonObject } from "./json.ts";
import type { VisitorKeyFilter } from "./visitor.ts";

export const eventTypes = [
  "conversation.started",
  "message.completed",
  "message.failed",
  "question.unanswered",
  "budget.reached",
  "companion.created",
  "companion.updated",
  "companion.deleted",
  "visitor.erased",
  "voice.transcript",
  "handoff.requested",
  "handoff.taken",
  "handoff.released",
  "handoff.missed",
  "message.visitor",
  "message.person",
  "conversation.updated",
  "contact.given",
  "rating.given",
] as const;
export type EventType = (typeof eventTypes)[number];

/** What a webhook wants: types, or `*` for all there are and will be. */
export type WantedEvent = EventType | "*";

/** Whether it may be an event's id: `msg_` and an id of what it reports, with as much as distinguishes it. */
export const isEventId = (text: string) => /^msg_[0-9a-z_-]{36,56}$/.test(text);

/** What only a trial sends. */
export const testEventType = "webhook.test";

export const maxWebhooks = 20;
/** Of one webhook, whatever became of them: the oldest go first. */
export const maxDeliveries = 100_000;
export const deliveryLifetimeMs = 30 * 86_400_000;

export interface Webhook {
  id: string;
  url: string;
  events: readonly WantedEvent[];
  /** Whether messages and replies go along. */
  includeContent: boolean;
  /** Only of companions that match; null: of all of the account. */
  metadata: VisitorKeyFilter;
  enabled: boolean;
  /** A public sentence: why the server has disabled it. Null while it is enabled, or if its owner did. */
  disabledReason: string | null;
  createdAt: number;
  updatedAt: number;
}

/**
 * - `waiting`: for its first attempt or the next, or for an earlier one of its conversation.
 * - `delivered`: the receiver has confirmed it.
 * - `failed`: the last attempt failed, which has disabled the webhook.
 * - `dropped`: it waited when the webhook was disabled, or what it reported was erased.
 */
export const deliveryStates = ["waiting", "delivered", "failed", "dropped"] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/** One event for one webhook. */
export interface Delivery {
  /** The event's, the same for every webhook: its `webhook-id`. */
  id: string;
  type: EventType;
  state: DeliveryState;
  attempts: number;
  /** The status of the last response; null if there was none. */
  status: number | null;
  /** A public sentence: why the last attempt failed, or why it was dropped. */
  problem: string | null;
  companionId: string | null;
  conversationId: string | null;
  createdAt: number;
  /** The last attempt's; null before the first. */
  attemptedAt: number | null;
  /** When it is tried next; null if that waits for another delivery, or it is over. */
  dueAt: number | null;
}

/** An event as it is stored for a webhook, without anyone's words: these are read when it is sent. */
export interface StoredEvent {
  id: string;
  type: EventType;
  companionId: string | null;
  conversationId: string | null;
  /** Null if it is of no conversation. */
  sessionId: string | null;
  /** As in `ConversationKey`. */
  visitorId: string | null;
  /** What is known of a verified visitor. */
  sealedVisitor: string | null;
  data: JsonObject;
  /** The messages whose words go along, by the names that they have there; null for none. */
  content: EventContent | null;
  createdAt: number;
}

export interface EventContent {
  readonly [name: string]: string | readonly string[];
}

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/** After each failed attempt; after the last one the webhook is disabled. The first attempt is made immediately. */
export const retryDelaysMs: readonly number[] = [
  5 * secondMs,
  5 * minuteMs,
  30 * minuteMs,
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * hourMs),
];

/** How long one attempt may take, from the look-up of the name to the end of the response. */
export const attemptMs = 15 * secondMs;

/** Webhooks, and the outbox of their deliveries. */
import type { HistoryMessage } from "../../domain/conversation.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Delivery, EventContent, EventType, StoredEvent, Webhook } from "../../domain/webhook.ts";
import type { Page, PageRequest } from "./page.ts";
import type { WriteContext } from "./write-context.ts";

/** A webhook with its secret, sealed. */
export interface SealedWebhook extends Webhook {
  sealedSecret: string;
}

export type NewWebhook = Omit<SealedWebhook, "disabledReason" | "createdAt" | "updatedAt">;
export type WebhookPatch = Partial<Pick<Webhook, "url" | "events" | "includeContent" | "metadata" | "enabled">>;

/** Is given what a change is made to, inside its transaction, and may throw: then nothing changes. */
export type WebhookCheck = (current: Webhook) => void;

/**
 * What has happened. It is stored, in the transaction of what it reports, once for each enabled webhook of the account
 * that wants it, and for none if there is none.
 */
export interface NewEvent {
  /** Emitted twice, it is stored once. */
  id: string;
  accountId: string;
  type: EventType;
  atMs: number;
  /** Of `visitorFactsOf`: what the filters of webhooks are compared with. */
  facts: readonly string[];
  /** Null if it is of no companion. */
  companionId: string | null;
  /** As in `ConversationKey`; null if it is of no conversation. */
  sessionId: string | null;
  visitorId: string | null;
  /** What is known of a verified visitor; null for others. */
  sealedVisitor: string | null;
  /** Without anyone's words. */
  data: JsonObject;
  /** Ids of messages of the conversation. */
  content: EventContent | null;
}

/** The events of a settled turn. */
export interface TurnEvents {
  /** Only if the turn has begun the conversation. */
  started: NewEvent;
  /** Only if what it reports is stored, unless nothing should be; null if its end has no event. */
  ended: NewEvent | null;
}

/** A delivery that is to be sent. */
export interface DueDelivery {
  accountId: string;
  webhook: SealedWebhook;
  event: StoredEvent;
  /** How often it was sent before. */
  attempts: number;
}

export type AttemptOutcome =
  | { readonly state: "delivered"; readonly status: number }
  /** Tried again at `dueAtMs`. */
  | { readonly state: "waiting"; readonly status: number | null; readonly problem: string; readonly dueAtMs: number }
  /** For good: the webhook is disabled for the reason, and all that waits for it is dropped. */
  | { readonly state: "failed"; readonly status: number | null; readonly problem: string; readonly reason: string };

export interface TakeRequest {
  nowMs: number;
  /** Until then no other caller takes them, across all processes. */
  untilMs: number;
  /** How many at most. */
  limit: number;
  /** How many of one webhook at most. */
  perWebhook: number;
  /** How many of one account at most: one whose receivers are slow must not hold up the others. */
  perAccount: number;
  /** How many of each are being sent here already, by the webhook's id. */
  running: ReadonlyMap<string, number>;
  /** The same by the account's id. */
  runningOf: ReadonlyMap<string, number>;
}

/**
 * The deliveries of a webhook that belong to one conversation are given out one after the other, in the order in which
 * they were written; others in that of their due times.
 */
export interface WebhookStore {
  /** Rejects with `conflict`, and writes nothing, if the account has `maxWebhooks`. Audit: `webhook.create`. */
  create(accountId: string, webhook: NewWebhook, context: WriteContext): Promise<Webhook>;
  /** Newest first. */
  list(accountId: string, page: PageRequest): Promise<Page<Webhook>>;
  find(accountId: string, id: string): Promise<SealedWebhook | null>;
  /**
   * Sets the given fields, and `updatedAt`, which is another one each time. One that is disabled receives nothing more,
   * and drops what waited. Null if absent. Audit: `webhook.update` with the names of the fields.
   */
  update(
    accountId: string,
    id: string,
    patch: WebhookPatch,
    context: WriteContext,
    check?: WebhookCheck,
  ): Promise<Webhook | null>;
  /** From the next attempt on. Null if absent. Audit: `webhook.rotate_secret`. */
  replaceSecret(accountId: string, id: string, sealedSecret: string, context: WriteContext): Promise<Webhook | null>;
  /** E-mail addresses of up to `limit` accounts that have webhooks, whose secrets are sealed. */
  listHolders(limit: number): Promise<string[]>;
  /** Deletes all of the account's webhooks, for a lost key. False if there is no such account. Audit: `webhook.reset`. */
  reset(accountId: string, context: WriteContext): Promise<boolean>;
  /** With its deliveries. False if absent. Audit: `webhook.delete`. */
  delete(accountId: string, id: string, context: WriteContext, check?: WebhookCheck): Promise<boolean>;

  /** Newest first. Null if the account has no such webhook. */
  listDeliveries(accountId: string, webhookId: string, page: PageRequest): Promise<Page<Delivery> | null>;
  findDelivery(accountId: string, webhookId: string, id: string): Promise<Delivery | null>;
  /** For another attempt by hand. Null if absent, or what it reported was erased. */
  findEvent(webhookId: string, id: string): Promise<StoredEvent | null>;
  /**
   * Notes an attempt by hand: a delivery that has arrived waits no more, and one that has not waits as before, with as many
   * attempts. Null if it is gone.
   */
  noteRetry(
    webhookId: string,
    id: string,
    outcome: { status: number | null; problem: string | null },
    nowMs: number,
  ): Promise<Delivery | null>;

  /** Called after each commit of this process that has stored a delivery. */
  onStored(listener: () => void): void;
  /** Only reads if nothing is due. Each counts as an attempt from then on. */
  takeDue(request: TakeRequest): Promise<DueDelivery[]>;
  /** What became of one that was taken; changes nothing if it waits no more. `auditId` is for a webhook that it disables. */
  finish(due: DueDelivery, outcome: AttemptOutcome, nowMs: number, auditId: string): Promise<void>;
  /** When the next one is due; null if none waits. */
  findNextDue(): Promise<number | null>;
  countWaiting(): Promise<number>;
  /** The words of these messages of the conversation, by their ids; those that are gone are left out. */
  readWords(conversationId: string, messageIds: readonly string[]): Promise<Map<string, HistoryMessage>>;
  /** Deletes up to `limit` deliveries that are older than `beforeMs`, or more than `most` of a webhook; returns how many. */
  purge(beforeMs: number, most: number, limit: number): Promise<number>;
}

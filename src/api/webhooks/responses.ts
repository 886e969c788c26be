/** Webhooks in responses: never the secret, which only the responses to the creation and the rotation add. */
import { type Static, Type as t } from "@sinclair/typebox";
import type { Attempt } from "../../core/events/events.ts";
import { type Delivery, deliveryStates, eventTypes, type Webhook as StoredWebhook } from "../../domain/webhook.ts";
import { closedObject, instant } from "../../http/schemas/named-object.ts";
import { Nullable, OneOf } from "../../http/schemas/schema.ts";
import { toNullableRfc3339, toRfc3339 } from "../../lib/clock.ts";
import { newWebhookBody } from "./model.ts";

const makeStatus = () =>
  Nullable(t.Integer({ description: "Of the last response; null if there was none.", examples: [204] }));

function makeWebhookFields() {
  const { url, events, ...others } = newWebhookBody.schema.properties;
  return {
    id: t.String({ format: "uuid" }),
    ...{ url, events },
    ...t.Required(t.Object(others)).properties,
    disabled_reason: Nullable(
      t.String({
        description: "Why the server has disabled it; null while it is enabled, or if its owner disabled it.",
        examples: ["The receiver answered 410 Gone."],
      }),
    ),
    created_at: instant("When it was created."),
    updated_at: instant("When it was last changed."),
  };
}

const makeSecret = () =>
  t.String({
    pattern: "^whsec_[0-9A-Za-z+/]+=*$",
    description: "The secret that signs requests, shown only this once.",
    examples: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="],
  });

export const WebhookObject = closedObject("Webhook", makeWebhookFields);
export const NewWebhookAnswer = closedObject("NewWebhookAnswer", () => ({
  ...makeWebhookFields(),
  secret: t.Optional(makeSecret()),
}));
export const RotatedWebhook = closedObject("RotatedWebhook", () => ({ ...makeWebhookFields(), secret: makeSecret() }));

export const DeliveryObject = closedObject("WebhookDelivery", () => ({
  id: t.String({
    description: "The event's, in the header `webhook-id`: the same at every attempt.",
    examples: ["msg_0192f3c1-7d2e-7a44-9a10-3f5b8c6d2e10"],
  }),
  type: OneOf(eventTypes),
  state: OneOf(deliveryStates, {
    description:
      "`waiting` for an attempt; `delivered`; `failed`, permanently, which has disabled the webhook; `dropped`, because " +
      "the webhook was disabled, or what the event was about has been deleted.",
  }),
  attempts: t.Integer({
    description: "How often it was sent; failures of `retry` while it waits are not counted.",
    examples: [1],
  }),
  status_code: makeStatus(),
  error: Nullable(
    t.String({
      description: "Why the last attempt failed, or why it was dropped.",
      examples: ["The response had the status 500."],
    }),
  ),
  companion_id: Nullable(t.String({ format: "uuid" })),
  conversation_id: Nullable(t.String({ format: "uuid" })),
  created_at: instant("When it happened."),
  last_attempt_at: Nullable(instant("When it was last sent; null until then.")),
  next_attempt_at: Nullable(
    instant("When it is sent next; null if it waits for an earlier one of its conversation, or is not waiting."),
  ),
}));

export const AttemptObject = closedObject("WebhookAttempt", () => ({
  ok: t.Boolean({ description: "Whether the receiver has confirmed it, by any 2xx." }),
  status_code: makeStatus(),
  error: Nullable(
    t.String({ description: "Why it was not confirmed.", examples: ["The response had the status 500."] }),
  ),
  duration_ms: t.Integer({ examples: [120] }),
}));

export type Webhook = Static<typeof WebhookObject>;
export type NewWebhookAnswer = Static<typeof NewWebhookAnswer>;
export type WebhookDelivery = Static<typeof DeliveryObject>;
export type WebhookAttempt = Static<typeof AttemptObject>;

export function toWireWebhook({ id, url, events, enabled, metadata, ...webhook }: StoredWebhook): Webhook {
  return {
    ...{ id, url, events: [...events], enabled, include_content: webhook.includeContent },
    metadata: metadata as Webhook["metadata"],
    disabled_reason: webhook.disabledReason,
    created_at: toRfc3339(webhook.createdAt),
    updated_at: toRfc3339(webhook.updatedAt),
  };
}

export function toWireDelivery(delivery: Delivery): WebhookDelivery {
  const { id, type, state, attempts } = delivery;
  return {
    ...{ id, type, state, attempts, status_code: delivery.status, error: delivery.problem },
    companion_id: delivery.companionId,
    conversation_id: delivery.conversationId,
    created_at: toRfc3339(delivery.createdAt),
    last_attempt_at: toNullableRfc3339(delivery.attemptedAt),
    next_attempt_at: toNullableRfc3339(delivery.dueAt),
  };
}

export function toWireAttempt({ status, problem, durationMs }: Attempt): WebhookAttempt {
  return { ok: problem === null, status_code: status, error: problem, duration_ms: durationMs };
}

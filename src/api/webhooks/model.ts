/** Webhooks on the wire: never the secret, which only the responses to their creation and its rotation add. */
import { type Static, Type as t } from "@sinclair/typebox";
import type { Attempt } from "../../core/events/events.ts";
import { type Delivery, eventTypes, type Webhook } from "../../domain/webhook.ts";
import { metadataFilter } from "../../http/schemas/metadata-filter.ts";
import { compileChecker, Nullable, Text } from "../../http/schemas/schema.ts";
import { toRfc3339 } from "../../lib/clock.ts";

const maxUrlLength = 2_000;

const makeFields = () => ({
  url: Text({
    minLength: 1,
    maxLength: maxUrlLength,
    description: "Where events are sent, by POST: https, to a public host.",
    examples: ["https://shop.example/companiond-events"],
  }),
  events: t.Array(t.Union([...eventTypes, "*" as const].map((type) => t.Literal(type))), {
    minItems: 1,
    maxItems: eventTypes.length + 1,
    uniqueItems: true,
    description: "Which events; `*` for all there are and will be.",
    examples: [["message.completed", "question.unanswered"]],
  }),
  enabled: t.Boolean({
    description: "Whether it is told of events. One that is disabled drops what waits, and is not told later.",
    examples: [true],
  }),
  include_content: t.Boolean({
    description: "Whether what visitors and companions said goes along; otherwise events have ids alone.",
    examples: [false],
  }),
  metadata: Nullable(
    metadataFilter("Only events of companions that have all of these values, 1 to 5, when it happens. Not set: all."),
  ),
});

export const newWebhookBody = compileChecker(() => {
  const { url, events, ...others } = makeFields();
  return t.Object(
    { url, events, ...t.Partial(t.Object(others)).properties },
    { $id: "NewWebhook", additionalProperties: false },
  );
});
export const webhookPatchBody = compileChecker(() =>
  t.Object(t.Partial(t.Object(makeFields())).properties, {
    $id: "WebhookPatch",
    additionalProperties: false,
    description: "Only what is sent changes.",
  }),
);
export type WebhookPatchBody = Static<typeof webhookPatchBody.schema>;

/** Not `secret`: who sends one believes that it counts. */
export const readOnlyWebhookFields = ["id", "disabled_reason", "created_at", "updated_at"] as const;

export function toWireWebhook({ includeContent, disabledReason, createdAt, updatedAt, ...webhook }: Webhook) {
  const { id, url, events, enabled, metadata } = webhook;
  return {
    ...{ id, url, events: [...events], enabled, include_content: includeContent, metadata },
    disabled_reason: disabledReason,
    created_at: toRfc3339(createdAt),
    updated_at: toRfc3339(updatedAt),
  };
}

const toTime = (epochMs: number | null) => (epochMs === null ? null : toRfc3339(epochMs));

export function toWireDelivery(delivery: Delivery) {
  return {
    id: delivery.id,
    type: delivery.type,
    state: delivery.state,
    attempts: delivery.attempts,
    status_code: delivery.status,
    error: delivery.problem,
    companion_id: delivery.companionId,
    conversation_id: delivery.conversationId,
    created_at: toRfc3339(delivery.createdAt),
    last_attempt_at: toTime(delivery.attemptedAt),
    next_attempt_at: toTime(delivery.dueAt),
  };
}

export function toWireAttempt({ status, problem, durationMs }: Attempt) {
  return { ok: problem === null, status_code: status, error: problem, duration_ms: durationMs };
}

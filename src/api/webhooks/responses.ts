/** Responses of the webhook routes: schemas for the API document, created on first use, and types for the dashboard. */
import { type Static, Type as t } from "@sinclair/typebox";
import { deliveryStates, eventTypes } from "../../domain/webhook.ts";
import { namedObject } from "../../http/schemas/named-object.ts";
import { Nullable } from "../../http/schemas/schema.ts";
import { newWebhookBody } from "./model.ts";

const makeTime = (description: string) =>
  t.String({ format: "date-time", description, examples: ["2026-01-31T12:00:00.000Z"] });

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
        description: "Why the server has disabled it; null while it is enabled, or if its owner did.",
        examples: ["The receiver answered 410 Gone."],
      }),
    ),
    created_at: makeTime("When it was created."),
    updated_at: makeTime("When it was last changed."),
  };
}

const makeSecret = () =>
  t.String({
    pattern: "^whsec_[0-9A-Za-z+/]+=*$",
    description: "With what requests are signed, shown this once.",
    examples: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="],
  });

export const WebhookObject = namedObject("Webhook", makeWebhookFields, { additionalProperties: false });
export const NewWebhookAnswer = namedObject(
  "NewWebhookAnswer",
  () => ({ ...makeWebhookFields(), secret: t.Optional(makeSecret()) }),
  { additionalProperties: false },
);
export const RotatedWebhook = namedObject("RotatedWebhook", () => ({ ...makeWebhookFields(), secret: makeSecret() }), {
  additionalProperties: false,
});

export const DeliveryObject = namedObject(
  "WebhookDelivery",
  () => ({
    id: t.String({
      description: "The event's, in the header `webhook-id`: the same at every attempt.",
      examples: ["msg_0192f3c1-7d2e-7a44-9a10-3f5b8c6d2e10"],
    }),
    type: t.Union(eventTypes.map((type) => t.Literal(type))),
    state: t.Union(
      deliveryStates.map((state) => t.Literal(state)),
      {
        description:
          "`waiting` for an attempt; `delivered`; `failed`, for good, which has disabled the webhook; `dropped`, since the " +
          "webhook was disabled, or what it told of was deleted.",
      },
    ),
    attempts: t.Integer({ description: "How often it was sent.", examples: [1] }),
    status_code: makeStatus(),
    error: Nullable(
      t.String({
        description: "Why the last attempt failed, or why it was dropped.",
        examples: ["The response had the status 500."],
      }),
    ),
    companion_id: Nullable(t.String({ format: "uuid" })),
    conversation_id: Nullable(t.String({ format: "uuid" })),
    created_at: makeTime("When it happened."),
    last_attempt_at: Nullable(makeTime("When it was sent last; null before.")),
    next_attempt_at: Nullable(
      makeTime("When it is sent next; null if it waits for an earlier one of its conversation, or for nothing."),
    ),
  }),
  { additionalProperties: false },
);

export const AttemptObject = namedObject(
  "WebhookAttempt",
  () => ({
    ok: t.Boolean({ description: "Whether the receiver has confirmed it, by any 2xx." }),
    status_code: makeStatus(),
    error: Nullable(
      t.String({ description: "Why it did not arrive.", examples: ["The response had the status 500."] }),
    ),
    duration_ms: t.Integer({ examples: [120] }),
  }),
  { additionalProperties: false },
);

export type Webhook = Static<typeof WebhookObject>;
export type NewWebhookAnswer = Static<typeof NewWebhookAnswer>;
export type RotatedWebhook = Static<typeof RotatedWebhook>;
export type WebhookDelivery = Static<typeof DeliveryObject>;
export type WebhookAttempt = Static<typeof AttemptObject>;

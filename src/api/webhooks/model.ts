/** What is sent to create and change webhooks. */
import { type Static, Type as t } from "@sinclair/typebox";
import { eventTypes, type WantedEvent } from "../../domain/webhook.ts";
import { metadataFilter } from "../../http/schemas/metadata-filter.ts";
import { compileBody, Nullable, OneOf, Text } from "../../http/schemas/schema.ts";

const maxUrlLength = 2_000;

const makeFields = () => ({
  url: Text({
    minLength: 1,
    maxLength: maxUrlLength,
    description: "Where events are sent, by POST: https, to a public host.",
    examples: ["https://shop.example/companiond-events"],
  }),
  events: t.Array(OneOf<WantedEvent>([...eventTypes, "*"]), {
    minItems: 1,
    maxItems: eventTypes.length + 1,
    uniqueItems: true,
    description: "Which events; `*` for all there are and will be.",
    examples: [["message.completed", "question.unanswered"]],
  }),
  enabled: t.Boolean({
    description: "Whether events are sent to it. Disabling it drops what waits; what happens meanwhile is never sent.",
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

export const newWebhookBody = compileBody("NewWebhook", () => {
  const { url, events, ...others } = makeFields();
  return { url, events, ...t.Partial(t.Object(others)).properties };
});
export const webhookPatchBody = compileBody("WebhookPatch", () => t.Partial(t.Object(makeFields())).properties);
export type WebhookPatchBody = Static<typeof webhookPatchBody.schema>;

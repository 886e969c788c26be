/** Responses of the usage routes: schemas for the API document, made on first use, and types for the dashboard. */
import { type Static, Type as t } from "@sinclair/typebox";
import { failureKinds, failureMeanings } from "../../domain/reply-failure.ts";
import { namedObject } from "../../schemas/named-object.ts";
import { Nullable } from "../../schemas/schema.ts";

const makeCounts = () => ({
  messages: t.Integer({ description: "Answered messages, test chats included." }),
  requests: t.Integer({ description: "The keys' own management calls; 0 where filtered by companion or metadata." }),
  input_tokens: t.Integer(),
  output_tokens: t.Integer(),
  voice_sessions: t.Integer({ description: "Voice sessions that were started." }),
  errors: t.Integer({
    description:
      "Replies that the provider did not give, which cost nothing, or not whole. `getFailedReplies` tells why.",
  }),
});

const UsageRowObject = namedObject(
  "UsageRow",
  () => ({
    day: t.Optional(t.String({ format: "date", description: "UTC." })),
    companion_id: t.Optional(Nullable(t.String({ format: "uuid", description: "Null: a key's own calls." }))),
    key_id: t.Optional(
      Nullable(t.String({ format: "uuid", description: "The key that made the companion. Null: the dashboard." })),
    ),
    ...makeCounts(),
  }),
  { description: "Of `day`, `companion_id` and `key_id` those that were grouped by." },
);

export const UsageList = namedObject("UsageList", () => ({
  data: t.Array(UsageRowObject, { description: "Ordered by day, companion, key." }),
}));

const FailedRepliesObject = namedObject("FailedReplies", () => ({
  kind: t.Union(
    failureKinds.map((kind) => t.Literal(kind)),
    { description: failureKinds.map((kind) => `\`${kind}\`: ${failureMeanings[kind]}`).join("; ") },
  ),
  replies: t.Integer({ description: "How many failed so.", examples: [3] }),
  last_day: t.String({ format: "date", description: "The last day on which one did. UTC." }),
}));

export const FailedReplyList = namedObject("FailedReplyList", () => ({
  data: t.Array(FailedRepliesObject, { description: "The most frequent first." }),
}));

export const QuotaObject = namedObject("Quota", () => ({
  day: t.String({ format: "date", description: "The UTC day, at whose end the count begins anew." }),
  limit: t.Integer({ description: "Messages a day, by the account's plan.", examples: [1000] }),
  used: t.Integer({ description: "Of these, used so far, test chats included.", examples: [12] }),
  left: t.Integer({ examples: [988] }),
  voice_sessions: t.Object(
    {
      limit: t.Integer({ description: "Voice sessions a day, by the account's plan.", examples: [200] }),
      used: t.Integer({ description: "Of these, started so far.", examples: [3] }),
      left: t.Integer({ examples: [197] }),
    },
    { description: "The same of voice sessions." },
  ),
}));
export type UsageRow = Static<typeof UsageRowObject>;
export type Quota = Static<typeof QuotaObject>;
export type FailedReplies = Static<typeof FailedRepliesObject>;

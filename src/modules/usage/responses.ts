/** Responses of the usage routes: schemas for the API document, created on first use, and types for the dashboard. */
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
      "Replies that the provider did not give, which cost nothing, or did not finish. `getFailedReplies` says why.",
  }),
});

const UsageRowObject = namedObject(
  "UsageRow",
  () => ({
    day: t.Optional(t.String({ format: "date", description: "UTC." })),
    companion_id: t.Optional(Nullable(t.String({ format: "uuid", description: "Null: a key's own calls." }))),
    key_id: t.Optional(
      Nullable(t.String({ format: "uuid", description: "The key that created the companion. Null: the dashboard." })),
    ),
    ...makeCounts(),
  }),
  { description: "Has those of `day`, `companion_id` and `key_id` that the rows are grouped by." },
);

export const UsageList = namedObject("UsageList", () => ({
  data: t.Array(UsageRowObject, { description: "Ordered by day, companion, key." }),
}));

const FailedRepliesObject = namedObject("FailedReplies", () => ({
  kind: t.Union(
    failureKinds.map((kind) => t.Literal(kind)),
    { description: failureKinds.map((kind) => `\`${kind}\`: ${failureMeanings[kind]}`).join("; ") },
  ),
  replies: t.Integer({ description: "How many failed for this reason.", examples: [3] }),
  last_day: t.String({ format: "date", description: "The last UTC day on which one did." }),
}));

export const FailedReplyList = namedObject("FailedReplyList", () => ({
  data: t.Array(FailedRepliesObject, { description: "The most frequent first." }),
}));

export const QuotaObject = namedObject("Quota", () => ({
  day: t.String({ format: "date", description: "The UTC day; the count starts again at its end." }),
  limit: t.Integer({
    description: "Messages a day, by the account's plan or the companion's `daily_messages`, whichever is less.",
    examples: [1000],
  }),
  used: t.Integer({ description: "Messages used so far, test chats included.", examples: [12] }),
  left: t.Integer({ examples: [988] }),
  monthly_tokens: Nullable(
    t.Object(
      {
        limit: t.Integer({ examples: [5_000_000] }),
        used: t.Integer({ description: "Input and output together, in the UTC month so far.", examples: [1_234_567] }),
        left: t.Integer({ examples: [3_765_433] }),
      },
      { description: "The companion's `monthly_tokens`; null where it has no such limit." },
    ),
  ),
  voice_sessions: t.Object(
    {
      limit: t.Integer({ description: "Voice sessions a day, by the account's plan.", examples: [200] }),
      used: t.Integer({ description: "Voice sessions started so far.", examples: [3] }),
      left: t.Integer({ examples: [197] }),
    },
    { description: "The same for voice sessions." },
  ),
}));
export type UsageRow = Static<typeof UsageRowObject>;
export type Quota = Static<typeof QuotaObject>;
export type FailedReplies = Static<typeof FailedRepliesObject>;

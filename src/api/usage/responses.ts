/** Responses of the usage routes: their schemas, created on first use, and the conversion into them. */

import { type Static, Type as t } from "@sinclair/typebox";
import type { FailureRow, UsageRow as StoredRow, UsageGroup } from "../../contracts/store/store.ts";
import { roundToMicros } from "../../domain/money.ts";
import { failureKinds, failureMeanings } from "../../domain/reply-failure.ts";
import type { UsageCounts } from "../../domain/usage.ts";
import { namedObject } from "../../http/schemas/named-object.ts";
import { Nullable, Nullish, OneOf } from "../../http/schemas/schema.ts";

const metadataValue = () =>
  Nullable(t.String({ description: "Texts as they are, anything else as its JSON text. Null: there was none." }));

const makeCounts = () => ({
  messages: t.Integer({
    description: "Answered messages, test chats included, and those whose failed reply the provider counted.",
  }),
  requests: t.Integer({ description: "The keys' own management calls; 0 where filtered by companion or metadata." }),
  input_tokens: t.Integer(),
  output_tokens: t.Integer(),
  voice_sessions: t.Integer({ description: "Voice sessions that were started." }),
  errors: t.Integer({
    description:
      "Replies that the provider did not give, or did not finish. One that it counted all the same has its tokens and " +
      "its cost here, and is one of `messages`. `getFailedReplies` has the reason.",
  }),
  cached_tokens: t.Integer({ description: "Those of the input tokens that the provider had in its cache." }),
  cost_micros: Nullable(
    t.Integer({
      description:
        "What it cost the operator, in millionths of a US dollar: added up exactly, then rounded. Null: part of it has no price.",
    }),
  ),
  reasoning_tokens: t.Integer({
    description: "Those of the output tokens that the model thought: no visitor sees them.",
  }),
  cache_write_tokens: t.Integer({
    description: "Those of the input tokens that the provider wrote into its cache, for which some charge more.",
  }),
});

const makeAnswerer = () => ({
  model: Nullable(
    t.String({
      description: "Who replied, as the provider calls it. Null: no provider, or from before it was recorded.",
    }),
  ),
  provider: Nullable(t.String({ description: "The provider's name here. Null: as for `model`." })),
});

const UsageRowObject = namedObject(
  "UsageRow",
  () => ({
    day: t.Optional(t.String({ format: "date", description: "UTC." })),
    companion_id: Nullish(t.String({ format: "uuid", description: "Null: a key's own calls." })),
    key_id: Nullish(
      t.String({ format: "uuid", description: "The key that created the companion. Null: the dashboard." }),
    ),
    month: t.Optional(t.String({ pattern: "^\\d{4}-\\d{2}$", description: "UTC.", examples: ["2026-01"] })),
    model: t.Optional(makeAnswerer().model),
    provider: t.Optional(makeAnswerer().provider),
    ...makeCounts(),
  }),
  {
    description:
      "Has those of `day`, `companion_id`, `key_id`, `month`, `model`, `provider` and `metadata.<field>` that the rows are grouped by.",
    // Read when the schema is created, as the fields are.
    get patternProperties() {
      return { "^metadata\\.": metadataValue() };
    },
  },
);

export const UsageList = namedObject("UsageList", () => ({
  data: t.Array(UsageRowObject, {
    description: "Ordered by day, companion, key, month, model, provider, metadata; null first.",
  }),
  next_cursor: Nullish(
    t.String({ description: "Where the next page starts; null on the last. Only if `limit` or `cursor` was sent." }),
  ),
}));

/** One line of the meter export. */
export const UsageEventObject = namedObject(
  "UsageEvent",
  () => ({
    identifier: t.String({
      pattern: "^[0-9a-f]{64}$",
      description: "Names the line, and is the same each time: what was billed under it is not billed again.",
      examples: ["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"],
    }),
    timestamp: t.String({ format: "date-time", description: "The beginning of the UTC day." }),
    companion_id: t.String({ format: "uuid" }),
    ...makeAnswerer(),
    ...makeCounts(),
    metadata: t.Record(t.String(), t.Unknown(), {
      description: "The companion's metadata, as it stood when this was counted.",
    }),
    final: t.Boolean({ description: "False for a day that is not over: the line will come again with more in it." }),
    cursor: t.String({ description: "With this as `cursor`, the next call continues after this line." }),
  }),
  { description: "What a companion used in a day, by model, provider and recorded metadata." },
);

const FailedRepliesObject = namedObject("FailedReplies", () => ({
  kind: OneOf(failureKinds, {
    description: failureKinds.map((kind) => `\`${kind}\`: ${failureMeanings[kind]}`).join("; "),
  }),
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
/** The names of metadata fields are the caller's. */
export type UsageRow = Static<typeof UsageRowObject> & { [field: `metadata.${string}`]: string | null };
export type UsageEvent = Static<typeof UsageEventObject>;
export type Quota = Static<typeof QuotaObject>;
export type FailedReplies = Static<typeof FailedRepliesObject>;

export function toWireFailures({ kind, replies, lastDay }: FailureRow): FailedReplies {
  return { kind, replies, last_day: lastDay };
}

export function toWireQuota(limit: number, used: number) {
  return { limit, used, left: Math.max(0, limit - used) };
}

export type WireRow = Record<string, string | number | null>;

export function toWireUsage(row: StoredRow, groupBy: readonly UsageGroup[]): WireRow {
  return {
    ...(groupBy.includes("day") ? { day: row.day ?? null } : {}),
    ...(groupBy.includes("companion") ? { companion_id: row.companionId ?? null } : {}),
    ...(groupBy.includes("key") ? { key_id: row.keyId ?? null } : {}),
    ...(groupBy.includes("month") ? { month: row.month ?? null } : {}),
    ...(groupBy.includes("model") ? { model: row.model ?? null } : {}),
    ...(groupBy.includes("provider") ? { provider: row.provider ?? null } : {}),
    ...row.metadata,
    ...toWireCounts(row),
  };
}

export function toWireCounts(counts: UsageCounts) {
  return {
    messages: counts.messages,
    requests: counts.requests,
    input_tokens: counts.inputTokens,
    output_tokens: counts.outputTokens,
    voice_sessions: counts.voiceSessions,
    errors: counts.errors,
    cached_tokens: counts.cachedTokens,
    cost_micros: counts.unpriced > 0 ? null : roundToMicros({ micros: counts.costMicros, picos: counts.costPicos }),
    reasoning_tokens: counts.reasoningTokens,
    cache_write_tokens: counts.cacheWriteTokens,
  };
}

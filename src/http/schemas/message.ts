/** A message as owners see it, in transcripts and in the inbox's stream: its schema, and the conversion into it. */
import { type Static, Type as t } from "@sinclair/typebox";
import type { ShownPassage } from "../../contracts/store/store.ts";
import { finishReasons, type Message as StoredMessage, textOf } from "../../domain/conversation.ts";
import { type Rating, ratingReasons } from "../../domain/feedback.ts";
import type { Person } from "../../domain/handoff.ts";
import type { ToolCall } from "../../domain/tool.ts";
import { toRfc3339 } from "../../lib/clock.ts";
import { instant, namedObject } from "./named-object.ts";
import { Nullable, OneOf, Text } from "./schema.ts";
import { toolCallFields, toWireToolCall } from "./tool-call.ts";

const SeenPassage = namedObject("SeenPassage", () => ({
  n: t.Integer({ description: "Its number in that request to the model, and in the reply's markers." }),
  cited: t.Boolean({ description: "Whether the reply cites it." }),
  source_id: Nullable(t.String({ format: "uuid", description: "Null once the source was deleted or read again." })),
  title: Nullable(t.String()),
  url: Nullable(t.String()),
  page: Nullable(t.Integer()),
  text: Nullable(t.String({ description: "The passage, as the model saw it." })),
}));

const ToolCallObject = namedObject("ToolCall", toolCallFields);

export const AuthorObject = namedObject(
  "MessageAuthor",
  () => ({
    type: t.Literal("person"),
    name: Nullable(t.String({ description: "As visitors read it; null: the companion's.", examples: ["Grace"] })),
    member_id: Nullable(t.String({ description: "Null if an API key named the person." })),
    key_id: Nullable(t.String({ description: "The API key that named the person." })),
  }),
  { description: "Who of the team wrote it." },
);

export function toWireAuthor({ name, memberId, keyId }: Person): Static<typeof AuthorObject> {
  return { type: "person", name, member_id: memberId, key_id: keyId };
}

const RatingObject = namedObject(
  "Rating",
  () => ({
    rating: OneOf(["up", "down"] as const),
    reasons: t.Array(OneOf(ratingReasons), { examples: [["incomplete"]] }),
    comment: Nullable(t.String({ examples: ["It does not say when."] })),
    created_at: instant("When it was given."),
  }),
  { description: "What the visitor thinks of the reply." },
);

export const MessageObject = namedObject("Message", () => ({
  id: t.String({ format: "uuid" }),
  role: t.Union([t.Literal("user"), t.Literal("assistant")]),
  channel: t.Union([t.Literal("text"), t.Literal("voice")]),
  text: t.String({ examples: ["What are your opening hours?"] }),
  complete: t.Boolean({ description: "False for a reply that broke off, or that the visitor left." }),
  input_tokens: Nullable(t.Integer({ description: "For replies: the prompt's tokens." })),
  output_tokens: Nullable(t.Integer({ description: "For replies: the reply's tokens." })),
  tokens_estimated: t.Boolean({ description: "True if the provider did not count: UTF-8 bytes / 4." }),
  finish_reason: Nullable(
    Text({
      enum: finishReasons,
      description:
        "For replies: why the model stopped. `length`: its limit cut it off; `content_filter`: the provider's filter did; " +
        "null: it gave none.",
    }),
  ),
  model: Nullable(t.String({ description: "The model that replied; null for visitors' and spoken messages." })),
  provider: Nullable(t.String({ description: "The operator's provider that replied, by its name on this server." })),
  companion_version: Nullable(
    t.Integer({ description: "For replies: the companion's version that answered. Null where it is not known." }),
  ),
  sources: t.Optional(
    t.Array(SeenPassage, { description: "For replies with knowledge: the passages that the model saw." }),
  ),
  tool_calls: t.Optional(
    t.Array(ToolCallObject, { description: "For replies with calls of tools: in the order in which the model asked." }),
  ),
  author: t.Optional(AuthorObject),
  rating: t.Optional(RatingObject),
  created_at: instant("When it was sent."),
}));
export type Message = Static<typeof MessageObject>;

/** `seen`: what the model saw of the companion's knowledge for this reply; `calls`: what it called. */
export function toWireMessage(
  message: StoredMessage,
  seen: readonly ShownPassage[] = [],
  calls: readonly ToolCall[] = [],
  rating: Rating | null = null,
): Message {
  return {
    id: message.id,
    role: message.role,
    channel: message.channel,
    text: textOf(message),
    complete: message.complete,
    input_tokens: message.inputTokens,
    output_tokens: message.outputTokens,
    tokens_estimated: message.tokensEstimated,
    finish_reason: message.finishReason,
    model: message.model,
    provider: message.provider,
    companion_version: message.companionVersion ?? null,
    ...(seen.length === 0 ? {} : { sources: seen.map(toWireSeen) }),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(toWireToolCall) }),
    ...(message.person ? { author: toWireAuthor(message.person) } : {}),
    ...(rating === null ? {} : { rating: toWireRating(rating) }),
    created_at: toRfc3339(message.createdAt),
  };
}

function toWireRating({ rating, reasons, comment, createdAt }: Rating): Static<typeof RatingObject> {
  return { rating, reasons: [...reasons], comment, created_at: toRfc3339(createdAt) };
}

function toWireSeen({ n, isCited, source }: ShownPassage): Static<typeof SeenPassage> {
  return {
    n,
    cited: isCited,
    source_id: source?.id ?? null,
    title: source?.title ?? null,
    url: source?.url ?? null,
    page: source?.page ?? null,
    text: source?.text ?? null,
  };
}

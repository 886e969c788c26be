/** Responses of the conversation routes: their schemas, created on first use, and the conversion into them. */
import { type Static, Type as t } from "@sinclair/typebox";
import type { ShownPassage } from "../../contracts/store/store.ts";
import type { Visitors } from "../../core/visitors/visitors.ts";
import {
  finishReasons,
  type Conversation as StoredConversation,
  type Message as StoredMessage,
  textOf,
} from "../../domain/conversation.ts";
import type { ToolCall } from "../../domain/tool.ts";
import { isVerifiedId } from "../../domain/visitor.ts";
import { closedObject, namedObject } from "../../http/schemas/named-object.ts";
import { AnyObject, Nullable, Text } from "../../http/schemas/schema.ts";
import { toolCallFields, toWireToolCall } from "../../http/schemas/tool-call.ts";
import { toRfc3339 } from "../../lib/clock.ts";

const instant = (description: string) => t.String({ format: "date-time", description });

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

const MessageObject = namedObject("Message", () => ({
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
  sources: t.Optional(
    t.Array(SeenPassage, { description: "For replies with knowledge: the passages that the model saw." }),
  ),
  tool_calls: t.Optional(
    t.Array(ToolCallObject, { description: "For replies with calls of tools: in the order in which the model asked." }),
  ),
  created_at: instant("When it was sent."),
}));
export type Message = Static<typeof MessageObject>;

const VerifiedVisitor = namedObject(
  "VerifiedVisitor",
  () => ({
    sub: t.String({ description: "The website's own name for the visitor.", examples: ["customer-42"] }),
    name: Nullable(t.String({ examples: ["Ada Lovelace"] })),
    email: Nullable(t.String({ examples: ["ada@shop.example"] })),
    attributes: AnyObject({ examples: [{ plan: "pro" }] }),
  }),
  { description: "What the latest token said of a verified visitor; null for others." },
);

const makeFields = () => ({
  id: t.String({ format: "uuid" }),
  companion_id: t.String({ format: "uuid" }),
  session_id: t.String({ format: "uuid", description: "The client's own id for it." }),
  visitor_id: Nullable(t.String({ format: "uuid", description: "Null if the client sent none, or is verified." })),
  visitor: Nullable(VerifiedVisitor),
  message_count: t.Integer({ examples: [2] }),
  created_at: instant("When it began."),
  updated_at: instant("When its last message was sent."),
});

export const ConversationObject = namedObject("Conversation", makeFields);
export type Conversation = Static<typeof ConversationObject>;

export const ConversationWithMessages = namedObject("ConversationWithMessages", () => ({
  ...makeFields(),
  messages: t.Array(MessageObject, { description: "One page, oldest first; without a cursor the newest page." }),
  messages_next_cursor: Nullable(
    t.String({ description: "Send it as `messages_cursor` for older messages; null if there are none." }),
  ),
}));
export type ConversationWithMessages = Static<typeof ConversationWithMessages>;

const makeVisitorFields = () => {
  const { id, session_id, message_count, created_at, updated_at } = makeFields();
  return { id, session_id, message_count, created_at, updated_at };
};

export const OwnConversation = closedObject("OwnConversation", makeVisitorFields);

export const OwnConversationWithMessages = closedObject("OwnConversationWithMessages", () => {
  const { messages_next_cursor } = ConversationWithMessages.properties;
  const { id, role, channel, text, complete, created_at } = MessageObject.properties;
  const { call_id, tool, state, created_at: called_at } = toolCallFields();
  // What tools were sent, and answered, is between the platform and the model.
  const call = t.Object({ call_id, tool, state, created_at: called_at }, { additionalProperties: false });
  const tool_calls = t.Optional(t.Array(call, { description: "For replies with calls of tools." }));
  const fields = { id, role, channel, text, complete, tool_calls, created_at };
  const message = t.Object(fields, { additionalProperties: false });
  return {
    ...makeVisitorFields(),
    messages: t.Array(message, { description: "One page, oldest first; without a cursor the newest page." }),
    messages_next_cursor,
  };
});

/** What owners see of a conversation and of who it is with. */
export async function showConversation(visitors: Visitors, conversation: StoredConversation): Promise<Conversation> {
  const { visitorId, sealedVisitor } = conversation;
  const isVerified = isVerifiedId(visitorId);
  return {
    id: conversation.id,
    companion_id: conversation.companionId,
    session_id: conversation.sessionId,
    // The id of a verified visitor is the server's own affair.
    visitor_id: isVerified ? null : visitorId,
    visitor: isVerified && sealedVisitor !== null ? await visitors.open(visitorId, sealedVisitor) : null,
    message_count: conversation.messageCount,
    created_at: toRfc3339(conversation.createdAt),
    updated_at: toRfc3339(conversation.updatedAt),
  };
}

/** What verified visitors see of their own. */
export function toVisitorConversation(conversation: StoredConversation): Static<typeof OwnConversation> {
  return {
    id: conversation.id,
    session_id: conversation.sessionId,
    message_count: conversation.messageCount,
    created_at: toRfc3339(conversation.createdAt),
    updated_at: toRfc3339(conversation.updatedAt),
  };
}

/** Without what the reply cost, and what was said to tools and by them. */
export function toVisitorMessage(message: StoredMessage, calls: readonly ToolCall[] = []) {
  const told = calls.map(toWireToolCall).map(({ arguments: _, result: __, ...call }) => call);
  return {
    id: message.id,
    role: message.role,
    channel: message.channel,
    text: textOf(message),
    complete: message.complete,
    ...(calls.length === 0 ? {} : { tool_calls: told }),
    created_at: toRfc3339(message.createdAt),
  };
}

/** `seen`: what the model saw of the companion's knowledge for this reply; `calls`: what it called. */
export function toWireMessage(
  message: StoredMessage,
  seen: readonly ShownPassage[] = [],
  calls: readonly ToolCall[] = [],
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
    ...(seen.length === 0 ? {} : { sources: seen.map(toWireSeen) }),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(toWireToolCall) }),
    created_at: toRfc3339(message.createdAt),
  };
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

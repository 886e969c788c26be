/** Responses of the conversation routes: schemas for the API document, created on first use, and types for the dashboard. */
import { type Static, Type as t } from "@sinclair/typebox";
import { finishReasons } from "../../domain/conversation.ts";
import type { JsonObject } from "../../domain/json.ts";
import { namedObject } from "../../http/schemas/named-object.ts";
import { Nullable, Text } from "../../http/schemas/schema.ts";
import { toolCallFields } from "../../http/schemas/tool-call.ts";

const instant = (description: string) => t.String({ format: "date-time", description });

const SeenPassage = namedObject("SeenPassage", () => ({
  n: t.Integer({ description: "Its number in that request to the model, and in the reply's markers." }),
  cited: t.Boolean({ description: "Whether the reply cites it." }),
  source_id: Nullable(t.String({ format: "uuid", description: "Null once the source was deleted or read anew." })),
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
        "null: it did not say.",
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
    attributes: t.Unsafe<JsonObject>(t.Object({}, { additionalProperties: true, examples: [{ plan: "pro" }] })),
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

export const OwnConversation = namedObject("OwnConversation", makeVisitorFields, { additionalProperties: false });

export const OwnConversationWithMessages = namedObject(
  "OwnConversationWithMessages",
  () => {
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
  },
  { additionalProperties: false },
);

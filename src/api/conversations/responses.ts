/** Responses of the conversation routes: their schemas, created on first use, and the conversion into them. */
import { type Static, Type as t } from "@sinclair/typebox";
import {
  type Conversation as StoredConversation,
  type Message as StoredMessage,
  textOf,
} from "../../domain/conversation.ts";
import type { ToolCall } from "../../domain/tool.ts";
import { makeConversationFields } from "../../http/schemas/conversation.ts";
import { MessageObject } from "../../http/schemas/message.ts";
import { closedObject, namedObject } from "../../http/schemas/named-object.ts";
import { Nullable } from "../../http/schemas/schema.ts";
import { toolCallFields, toWireToolCall } from "../../http/schemas/tool-call.ts";
import { toRfc3339 } from "../../lib/clock.ts";
import { ContactObject, HandoffObject, NoteObject } from "./team-responses.ts";

export type { ListedConversation, WireConversation as Conversation } from "../../http/schemas/conversation.ts";
export type { Message } from "../../http/schemas/message.ts";
export type { ConversationEvent } from "./team-responses.ts";

export const ConversationWithMessages = namedObject("ConversationWithMessages", () => ({
  ...makeConversationFields(),
  handoff: t.Optional(HandoffObject),
  contact: t.Optional(ContactObject),
  notes: t.Optional(
    t.Array(NoteObject, {
      description: "Of the team, oldest first. Where `handoff` is there, as it is where people may step in.",
    }),
  ),
  messages: t.Array(MessageObject, { description: "One page, oldest first; without a cursor the newest page." }),
  messages_next_cursor: Nullable(
    t.String({ description: "Send it as `messages_cursor` for older messages; null if there are none." }),
  ),
}));
export type ConversationWithMessages = Static<typeof ConversationWithMessages>;

const makeVisitorFields = () => {
  const { id, session_id, message_count, created_at, updated_at } = makeConversationFields();
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
  const name = Nullable(t.String({ description: "Null: the companion's." }));
  const person = t.Object({ type: t.Literal("person"), name }, { additionalProperties: false });
  const author = t.Optional(person);
  const fields = { id, role, channel, text, complete, tool_calls, author, created_at };
  const message = t.Object(fields, { additionalProperties: false });
  return {
    ...makeVisitorFields(),
    messages: t.Array(message, { description: "One page, oldest first; without a cursor the newest page." }),
    messages_next_cursor,
  };
});

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
  const shown = calls.map(toWireToolCall).map(({ arguments: _, result: __, ...call }) => call);
  return {
    id: message.id,
    role: message.role,
    channel: message.channel,
    text: textOf(message),
    complete: message.complete,
    ...(calls.length === 0 ? {} : { tool_calls: shown }),
    ...(message.person ? { author: { type: "person" as const, name: message.person.name } } : {}),
    created_at: toRfc3339(message.createdAt),
  };
}

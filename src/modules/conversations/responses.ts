/** Responses of the conversation routes, only for the API document: made on first use. */
import { type Static, Type as t } from "@sinclair/typebox";
import { later } from "../../lib/later.ts";
import { Nullable } from "../../schemas/schema.ts";

const instant = (description: string) => t.String({ format: "date-time", description });

const MessageObject = later(() =>
  t.Object(
    {
      id: t.String({ format: "uuid" }),
      role: t.Union([t.Literal("user"), t.Literal("assistant")]),
      channel: t.Union([t.Literal("text"), t.Literal("voice")]),
      text: t.String({ examples: ["What are your opening hours?"] }),
      complete: t.Boolean({ description: "False for a reply that broke off, or that the visitor left." }),
      input_tokens: Nullable(t.Integer({ description: "On replies: what the prompt took." })),
      output_tokens: Nullable(t.Integer({ description: "On replies: what the reply took." })),
      tokens_estimated: t.Boolean({ description: "True where the provider did not count: UTF-8 bytes / 4." }),
      created_at: instant("When it was sent."),
    },
    { $id: "Message" },
  ),
);
export type Message = Static<typeof MessageObject>;

const fields = later(() => ({
  id: t.String({ format: "uuid" }),
  companion_id: t.String({ format: "uuid" }),
  session_id: t.String({ format: "uuid", description: "The client's own id of it." }),
  visitor_id: Nullable(t.String({ format: "uuid", description: "Null where the client sent none." })),
  message_count: t.Integer({ examples: [2] }),
  created_at: instant("When it began."),
  updated_at: instant("Its last message."),
}));

export const ConversationObject = later(() => t.Object({ ...fields }, { $id: "Conversation" }));
export type Conversation = Static<typeof ConversationObject>;

export const ConversationWithMessages = later(() =>
  t.Object(
    {
      ...fields,
      messages: t.Array(MessageObject, { description: "A page of them, oldest first; without a cursor the newest." }),
      messages_next_cursor: Nullable(
        t.String({ description: "As `messages_cursor`, leads to older ones; null where there are none." }),
      ),
    },
    { $id: "ConversationWithMessages" },
  ),
);
export type ConversationWithMessages = Static<typeof ConversationWithMessages>;

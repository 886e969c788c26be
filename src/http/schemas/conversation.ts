/** A conversation as the team sees it, in lists and in the inbox's stream: its schema. */
import { type Static, Type as t } from "@sinclair/typebox";
import { conversationStates, conversationStatuses, type Person } from "../../domain/handoff.ts";
import { instant, namedObject } from "./named-object.ts";
import { AnyObject, Nullable, OneOf } from "./schema.ts";

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

export const PersonObject = namedObject(
  "Person",
  () => ({
    id: t.String({
      description:
        "Of a member its id, of whom an API key names the key's id with theirs. `from` and `assignee` take it.",
      examples: ["0192f3c1-7d2e-7a44-9a10-3f5b8c6d2e10"],
    }),
    name: Nullable(t.String({ description: "Null: visitors read the companion's name.", examples: ["Grace"] })),
  }),
  { description: "A person of the team." },
);

export function toWirePerson(person: Person | null): Static<typeof PersonObject> | null {
  return person && { id: person.id, name: person.name };
}

export const makeConversationFields = () => ({
  id: t.String({ format: "uuid" }),
  companion_id: t.String({ format: "uuid" }),
  session_id: t.String({ format: "uuid", description: "The client's own id for it." }),
  visitor_id: Nullable(t.String({ format: "uuid", description: "Null if the client sent none, or is verified." })),
  visitor: Nullable(VerifiedVisitor),
  message_count: t.Integer({ examples: [2] }),
  state: t.Optional(
    OneOf(conversationStates, {
      description:
        "Who answers. This and what follows to `unread` is there where the companion has `handoff` or `leads`, or the conversation a status.",
    }),
  ),
  person: t.Optional(Nullable(PersonObject)),
  status: t.Optional(
    Nullable(
      OneOf(conversationStatuses, {
        description: "`open`: the team owes an answer; `answered`: a person wrote last; null: plain talk.",
      }),
    ),
  ),
  assignee: t.Optional(
    Nullable(t.String({ description: "The id of a member.", examples: ["0192f3c1-7d2e-7a44-9a10-3f5b8c6d2e10"] })),
  ),
  tags: t.Optional(t.Array(t.String(), { description: "In lower case.", examples: [["returns"]] })),
  unread: t.Optional(
    Nullable(
      t.Integer({
        description:
          "The visitor's messages that the reader has not read; 0 without a status. Null where an API key does not say whose with `as`.",
        examples: [1],
      }),
    ),
  ),
  created_at: instant("When it began."),
  updated_at: instant("When its last message was sent."),
});

export const ConversationObject = namedObject("Conversation", makeConversationFields);
export type WireConversation = Static<typeof ConversationObject>;

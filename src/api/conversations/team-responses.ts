/** What the team reads of conversations beside their rows and messages: who has them, notes, and their history of people. */
import { type Static, Type as t } from "@sinclair/typebox";
import type { StoredContact } from "../../contracts/store/feedback.ts";
import type { ConversationNote } from "../../contracts/store/handoffs.ts";
import type { ContactFacts } from "../../domain/feedback.ts";
import {
  conversationStates,
  deadlineOf,
  type Handoff,
  type HandoffActor,
  type HandoffEvent,
  handoffEventTypes,
} from "../../domain/handoff.ts";
import { PersonObject, toWirePerson } from "../../http/schemas/conversation.ts";
import { AuthorObject, toWireAuthor } from "../../http/schemas/message.ts";
import { instant, namedObject } from "../../http/schemas/named-object.ts";
import { Nullable, OneOf } from "../../http/schemas/schema.ts";
import { toNullableRfc3339, toRfc3339 } from "../../lib/clock.ts";

const makeStateFields = () => ({
  state: OneOf(conversationStates, { description: "Who answers." }),
  person: Nullable(PersonObject),
  since: Nullable(instant("Since when; null if it never changed.")),
  until: Nullable(instant("The deadline that runs: of an ask that no one takes, or of silence.")),
});

export const TakenObject = namedObject("TakenConversation", makeStateFields);

export const ReservedObject = namedObject("ReservedConversation", () => ({ state: t.Literal("companion") }));

export function toWireState(handoff: Handoff | null): Static<typeof TakenObject> {
  return {
    state: handoff?.state ?? "companion",
    person: toWirePerson(handoff?.person ?? null),
    since: toNullableRfc3339(handoff?.sinceMs ?? null),
    until: toNullableRfc3339(deadlineOf(handoff)),
  };
}

const reaches = ["live", "email", "next_message", "none"] as const;
export type Reach = (typeof reaches)[number];

export const HandoffObject = namedObject(
  "ConversationHandoff",
  () => ({
    ...makeStateFields(),
    reach: OneOf(reaches, {
      description:
        "How a message would arrive now: `live` (the visitor listens), `email` (they left an address), `next_message` (with the reply to their next one), or not (`none`).",
    }),
    seen: t.Integer({ description: "The newest `seq` that the visitor has seen.", examples: [4] }),
  }),
  { description: "Who has the conversation, where people may step in." },
);

export function toWireHandoff(handoff: Handoff | null, reach: Reach): Static<typeof HandoffObject> {
  return { ...toWireState(handoff), reach, seen: handoff?.seenSeq ?? 0 };
}

export const ContactObject = namedObject(
  "ConversationContact",
  () => ({
    email: t.String({ examples: ["ada@example.com"] }),
    name: Nullable(t.String({ examples: ["Ada"] })),
    message: Nullable(t.String({ examples: ["Do you repair bicycles?"] })),
    consent_text: t.String({ description: "What the visitor agreed to.", examples: ["You may write to me."] }),
    consented_at: instant("When the visitor agreed."),
  }),
  { description: "What the visitor has left for the team." },
);

export function toWireContact(
  { email, name, message }: ContactFacts,
  { consentText, consentedAt }: StoredContact,
): Static<typeof ContactObject> {
  return { email, name, message, consent_text: consentText, consented_at: toRfc3339(consentedAt) };
}

export const SentObject = namedObject("SentPersonMessage", () => ({
  seq: t.Integer({ description: "Its position in the conversation; the first message is 1.", examples: [5] }),
}));

const noteFields = () => ({
  id: t.String({ format: "uuid" }),
  text: t.String(),
  author: AuthorObject,
  created_at: instant("When it was written."),
});
export const NoteObject = namedObject("ConversationNote", noteFields, {
  description: "For the team alone: neither visitors nor the model read it.",
});

export function toWireNote({ id, author, createdAt }: Omit<ConversationNote, "sealedText">, text: string) {
  return { id, text, author: toWireAuthor(author), created_at: toRfc3339(createdAt) };
}

export const HandoffEventObject = namedObject("ConversationEvent", () => ({
  type: OneOf(handoffEventTypes),
  at: instant("When."),
  by: t.Object({
    type: OneOf(["visitor", "model", "clock", "server", "person"] as const),
    name: Nullable(t.String({ description: "Of a person.", examples: ["Grace"] })),
    member_id: Nullable(t.String()),
    key_id: Nullable(t.String()),
  }),
  reason: Nullable(t.String({ description: "What the visitor or the model gave as the reason." })),
}));
export type ConversationEvent = Static<typeof HandoffEventObject>;

/** `reason` is opened. */
export function toWireEvent({ type, atMs, by }: HandoffEvent, reason: string | null): ConversationEvent {
  return { type, at: toRfc3339(atMs), by: toWireActor(by), reason };
}

function toWireActor(by: HandoffActor) {
  const { name, memberId, keyId } = by.type === "person" ? by.person : { name: null, memberId: null, keyId: null };
  return { type: by.type, name, member_id: memberId, key_id: keyId };
}

/** Events of the inbox's stream: their schemas, and the conversion into them. */
import { Type as t } from "@sinclair/typebox";
import type { Presence } from "../../contracts/store/store.ts";
import type { Typing } from "../../core/people/live.ts";
import { makeConversationFields, makeExcerptFields, PersonObject } from "../../http/schemas/conversation.ts";
import { wholeStream } from "../../http/schemas/live.ts";
import { MessageObject } from "../../http/schemas/message.ts";
import { Nullable, OneOf } from "../../http/schemas/schema.ts";
import { later } from "../../lib/later.ts";

/** The data of an event of the stream; see `ChatEvent`. */
export const InboxEventData = later(() =>
  t.Union(
    [
      t.Object(
        {
          ...makeConversationFields(),
          ...makeExcerptFields(),
          messages: t.Optional(
            t.Array(MessageObject, { description: "With `include_content`: the newest, oldest first." }),
          ),
        },
        {
          $id: "InboxConversation",
          description: "Of `event: conversation`: as it stands now. Its `id` is for `Last-Event-ID`.",
        },
      ),
      t.Object(
        {
          conversation_id: t.String({ format: "uuid" }),
          typing: t.Boolean(),
          who: t.Object({
            type: OneOf(["visitor", "person"]),
            id: Nullable(t.String({ description: "Null for the visitor." })),
            name: Nullable(t.String({ examples: ["Grace"] })),
          }),
        },
        { $id: "InboxTyping" },
      ),
      t.Object(
        {
          members: t.Array(PersonObject, { description: "Who is present." }),
          available: t.Boolean({
            description: "Whether the reader's own switch is on; of an API key's `as`, whether it is present.",
          }),
        },
        { $id: "InboxPresence" },
      ),
      wholeStream(),
    ],
    { $id: "InboxEvent", description: "The `data` of `event: conversation`, `event: typing` or `event: presence`." },
  ),
);

export function toWireTyping({ conversationId, isTyping, by, personId, name }: Typing) {
  return { conversation_id: conversationId, typing: isTyping, who: { type: by, id: personId, name } };
}

export function toWirePresence(present: readonly Presence[], own: Presence | null, nowMs: number) {
  const isOver = own?.person.memberId === null && (own.untilMs ?? 0) <= nowMs;
  return {
    members: present.map(({ person }) => ({ id: person.id, name: person.name })),
    available: own?.isAvailable === true && !isOver,
  };
}

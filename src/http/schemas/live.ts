/** A conversation as its visitor reads it live: who answers, and messages with their authors. */
import { type Static, Type as t } from "@sinclair/typebox";
import type { LiveMessage as StoredMessage } from "../../contracts/store/handoffs.ts";
import { textOf } from "../../domain/conversation.ts";
import { conversationStates, type Handoff, stateReasons } from "../../domain/handoff.ts";
import { toNullableRfc3339, toRfc3339 } from "../../lib/clock.ts";
import { later } from "../../lib/later.ts";
import { instant, namedObject } from "./named-object.ts";
import { Nullable, OneOf } from "./schema.ts";

export const LiveStateObject = namedObject(
  "LiveState",
  () => ({
    state: OneOf(conversationStates, {
      description: "`companion` answers; `waiting`: a person was asked for; `person`: somebody has the conversation.",
    }),
    person: Nullable(
      t.Object(
        { name: t.String({ description: "As visitors read it.", examples: ["Grace"] }) },
        { description: "Null outside `person`." },
      ),
    ),
    since: Nullable(instant("When the state became what it is; null where it never changed.")),
    until: Nullable(instant("The deadline that runs; it moves with each message of a person or to one.")),
    reason: Nullable(OneOf(stateReasons, { description: "Why it is what it is; null where it never changed." })),
  }),
  { description: "Who answers." },
);
export type LiveState = Static<typeof LiveStateObject>;

const authorTypes = ["visitor", "companion", "person"] as const;

export const LiveMessageObject = namedObject("LiveMessage", () => ({
  seq: t.Integer({ description: "Grows within the conversation, the same for every reader.", examples: [3] }),
  author: t.Object({
    type: OneOf(authorTypes),
    name: Nullable(t.String({ description: "Null for the visitor.", examples: ["Grace"] })),
  }),
  text: t.String({ examples: ["I have looked it up: your parcel arrives today."] }),
  message_id: Nullable(t.String({ description: "The name that the client gave to the message, if it did." })),
  created_at: instant("When it was sent."),
}));
export type LiveMessage = Static<typeof LiveMessageObject>;

export const LivePageObject = namedObject("LivePage", () => ({
  state: LiveStateObject,
  data: t.Array(LiveMessageObject, { description: "Messages beyond `after`, oldest first." }),
  cursor: t.Integer({ description: "To be sent as `after` next.", examples: [3] }),
}));

/** The data of an event of the stream; see `ChatEvent`. */
export const LiveEventData = later(() =>
  t.Union(
    [
      LiveStateObject,
      LiveMessageObject,
      t.Object({ typing: t.Boolean() }, { $id: "LiveTyping", description: "Whether a person is typing." }),
    ],
    { $id: "LiveEvent", description: "The `data` of `event: state`, `event: message` or `event: typing`." },
  ),
);

/** Null: no record. `companionName` stands for people without a name of their own. */
export function toWireState(handoff: Handoff | null, companionName: string): LiveState {
  const { state = "companion", person = null, sinceMs = null, untilMs = null, reason = null } = handoff ?? {};
  return {
    state,
    person: state === "person" ? { name: person?.name ?? companionName } : null,
    since: toNullableRfc3339(sinceMs),
    until: toNullableRfc3339(untilMs),
    reason,
  };
}

export function toWireLiveMessage(
  { seq, message, author, clientId }: StoredMessage,
  companionName: string,
): LiveMessage {
  const type = author !== null ? "person" : message.role === "user" ? "visitor" : "companion";
  return {
    seq,
    author: { type, name: type === "visitor" ? null : (author?.name ?? companionName) },
    text: textOf(message),
    message_id: clientId,
    created_at: toRfc3339(message.createdAt),
  };
}

/** A conversation as its visitor reads it live: who answers, and messages with their authors. */
import { type Static, Type as t } from "@sinclair/typebox";
import type { LiveMessage as StoredMessage } from "../../contracts/store/handoffs.ts";
import { textOf } from "../../domain/conversation.ts";
import { toRfc3339 } from "../../lib/clock.ts";
import { later } from "../../lib/later.ts";
import { ChatState } from "../named-events.ts";
import { instant, namedObject } from "./named-object.ts";
import { Nullable, OneOf } from "./schema.ts";

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
  state: ChatState,
  data: t.Array(LiveMessageObject, { description: "Messages beyond `after`, oldest first." }),
  cursor: t.Integer({ description: "To be sent as `after` next.", examples: [3] }),
}));

/** Generated clients that read a whole stream as one text take it for one of its events. */
export const wholeStream = () => t.String({ description: "The whole stream, for clients that read it as one text." });

/** The data of an event of the stream; see `ChatEvent`. */
export const LiveEventData = later(() =>
  t.Union(
    [
      ChatState,
      LiveMessageObject,
      t.Object({ typing: t.Boolean() }, { $id: "LiveTyping", description: "Whether a person is typing." }),
      wholeStream(),
    ],
    { $id: "LiveEvent", description: "The `data` of `event: state`, `event: message` or `event: typing`." },
  ),
);

/** `companionName` stands for people without a name of their own. */
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

/** Adds messages to conversations, which are created if new; shared by text turns and voice transcripts. */
import { type ConversationKey, type Message, textOf } from "../../domain/conversation.ts";
import type { Parameter, Queries } from "./queries.ts";
import { places, toArrays } from "./rows/arrays.ts";
import { withoutNul } from "./rows/text.ts";

export interface ConversationAddition {
  key: ConversationKey;
  /** Used if the conversation is new. */
  conversationId: string;
  /** At least one, in order of time. */
  messages: readonly [Message, ...Message[]];
  /** Nothing is added if it was erased since. Null: not asked. */
  arrivalMark: string | null;
}

/** Of the parameters of `add_messages`, after the first. */
export const messageTypes = [
  ...[...Array(5).fill("text[]"), "integer[]", "bigint[]", "bigint[]"],
  ...[
    "integer[]",
    "text[]",
    "text[]",
    "text[]",
    "boolean[]",
    "bigint[]",
    "bigint[]",
    "boolean[]",
    "bigint[]",
    "text[]",
  ],
];

const lastOf = ({ messages }: ConversationAddition): Message => messages.at(-1) ?? messages[0];

/** Each conversation may occur once. */
export function toMessageArrays(additions: readonly ConversationAddition[]): Parameter[] {
  const conversations = toArrays(additions, [
    ({ conversationId }) => conversationId,
    ({ key }) => key.companionId,
    ({ key }) => key.sessionId,
    ({ key }) => key.visitorId ?? "",
    ({ arrivalMark }) => arrivalMark,
    ({ messages }) => messages.length,
    ({ messages }) => messages[0].createdAt,
    (addition) => lastOf(addition).createdAt,
  ]);
  const placed = additions.flatMap(({ messages }, at) => messages.map((message) => ({ message, place: at + 1 })));
  const messages = toArrays(placed, [
    ({ place }) => place,
    ({ message }) => message.id,
    ({ message }) => message.role,
    ({ message }) => message.channel,
    ({ message }) => message.complete,
    ({ message }) => message.inputTokens,
    ({ message }) => message.outputTokens,
    ({ message }) => message.tokensEstimated,
    ({ message }) => message.createdAt,
    ({ message }) => withoutNul(textOf(message)),
  ]);
  return [...conversations, ...messages];
}

const addMessages = `SELECT add_messages($1::boolean, ${places(messageTypes, 2)}) AS added`;

export type ConversationWriter = ReturnType<typeof createConversationWriter>;

export function createConversationWriter() {
  return {
    /** Call it inside a write; false if the companion is deleted. `messages` in order of time. */
    async add(
      transaction: Queries,
      key: ConversationKey,
      conversationId: string,
      messages: readonly Message[],
    ): Promise<boolean> {
      const [first, ...others] = messages;
      if (first === undefined) return true;
      const arrays = toMessageArrays([{ key, conversationId, messages: [first, ...others], arrivalMark: null }]);
      const row = await transaction.get<{ added: number }>(addMessages, [first.channel === "text", ...arrays]);
      return row?.added === 1;
    },
  };
}

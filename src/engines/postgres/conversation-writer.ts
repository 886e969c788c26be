/** Adds messages to conversations, which are created if new; shared by text turns and voice transcripts. */
import { type ConversationKey, type Message, textOf } from "../../domain/conversation.ts";
import type { StreamErrorCode } from "../../domain/stream-end.ts";
import { withoutNul } from "../store-shared/rows/text.ts";
import type { Parameter, Queries } from "./queries.ts";
import { placeholders, toArrays } from "./rows/columns.ts";

export interface ConversationAddition {
  key: ConversationKey;
  /** Used if the conversation is new. */
  conversationId: string;
  /** At least one, in order of time. */
  messages: readonly [Message, ...Message[]];
  /** Nothing is added if it was erased since. Null: not asked. */
  arrivalMark: string | null;
  /** Replaces what is known of the visitor; null leaves it. */
  sealedVisitor: string | null;
  /** The client's name for the exchange, stored with each of the messages. */
  clientId: string | null;
  /** Stored with the last message. */
  endCode: StreamErrorCode | null;
}

/** Of the parameters of `add_messages`, after the first. */
export const messageTypes = [
  ...[...Array(5).fill("text[]"), "integer[]", "bigint[]", "bigint[]", "text[]", "text[]"],
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
    ...Array(5).fill("text[]"),
    "integer[]",
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
  const sealed = additions.map(({ sealedVisitor }) => sealedVisitor);
  const clientIds = additions.map(({ clientId }) => clientId);
  const placed = additions.flatMap((addition, at) =>
    addition.messages.map((message) => ({ addition, message, position: at + 1 })),
  );
  const messages = toArrays(placed, [
    ({ position }) => position,
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
  const endCodes = placed.map(({ addition, message }) => (message === lastOf(addition) ? addition.endCode : null));
  const finishReasons = placed.map(({ message }) => message.finishReason);
  const models = placed.map(({ message }) => message.model);
  const providers = placed.map(({ message }) => message.provider);
  const versions = placed.map(({ message }) => message.companionVersion ?? null);
  const ends = [orNone(endCodes), orNone(finishReasons), orNone(models), orNone(providers), orNone(versions)];
  return [...conversations, orNone(sealed), orNone(clientIds), ...messages, ...ends];
}

/** What most turns have nothing of is not sent at all. */
function orNone<Value>(values: readonly (Value | null)[]): readonly (Value | null)[] {
  return values.every((value) => value === null) ? [] : values;
}

const addMessages = `SELECT add_messages($1::boolean, ${placeholders(messageTypes, 2)}) AS added`;

type AddedTo = Pick<ConversationAddition, "key" | "sealedVisitor"> &
  Partial<Pick<ConversationAddition, "clientId" | "endCode">>;

export type ConversationWriter = ReturnType<typeof createConversationWriter>;

export function createConversationWriter() {
  return {
    /** Call it inside a write; false if the companion is deleted. `messages` in order of time. */
    async add(
      transaction: Queries,
      { clientId = null, endCode = null, ...of }: AddedTo,
      conversationId: string,
      messages: readonly Message[],
    ): Promise<boolean> {
      const [first, ...others] = messages;
      if (first === undefined) return true;
      const arrays = toMessageArrays([
        { ...of, conversationId, messages: [first, ...others], arrivalMark: null, clientId, endCode },
      ]);
      const row = await transaction.get<{ added: number }>(addMessages, [first.channel === "text", ...arrays]);
      return row?.added === 1;
    },
  };
}

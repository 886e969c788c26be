/** Messages as rows and as the domain knows them. */
import { type Message, textOf, textParts } from "../../../domain/conversation.ts";
import type { StreamErrorCode } from "../../../domain/stream-end.ts";
import type { SqliteEngine } from "../engine.ts";
import { tables } from "../tables.ts";
import { mapColumns, type StoredRow } from "./columns.ts";

export const messageColumns = mapColumns(tables.messages, [
  "number",
  "conversationNumber",
  "clientId",
  "endCode",
  "repeats",
  "seq",
]);

export type MessageRow = Omit<
  StoredRow<typeof tables.messages>,
  "number" | "conversationNumber" | "repeats" | "seq" | keyof ExchangeMark
>;

/** How a message shows which exchange it belongs to, where the client has named it. */
export interface ExchangeMark {
  clientId: string | null;
  endCode: StreamErrorCode | null;
}

const read = messageColumns.createReader();

export function toMessage(row: MessageRow): Message {
  const { text, ...message } = read(row);
  return { ...message, parts: textParts(text) };
}

/** For a message that is `delayMs` later than its timestamp. */
export function createMessageInsert(engine: SqliteEngine) {
  const insert = messageColumns.createInsert(engine);
  return (
    position: { conversationNumber: number; seq: number },
    message: Message,
    delayMs: number,
    mark: ExchangeMark,
  ) => {
    const { clientId, endCode } = mark;
    const createdAt = message.createdAt + delayMs;
    const companionVersion = message.companionVersion ?? null;
    insert({
      ...message,
      ...position,
      companionVersion,
      createdAt,
      text: textOf(message),
      clientId,
      endCode,
      repeats: null,
    });
  };
}

/** Pages of a conversation's messages. */
import type { MessagePageRequest, MessagePosition } from "../../contracts/store/conversations.ts";
import type { Message } from "../../domain/conversation.ts";
import { messagePageBytes } from "../store-shared/rows/bounds.ts";
import type { SqliteEngine } from "./engine.ts";
import { type MessageRow, messageColumns, toMessage } from "./rows/message.ts";

const newestBefore = `FROM messages WHERE conversation_number = ? AND (created_at, number) < (?, ?)
  ORDER BY created_at DESC, number DESC LIMIT ?`;
export const messagePageQuery = () => `SELECT ${messageColumns.select("messages")} ${newestBefore}`;

export function createMessagePages(engine: SqliteEngine) {
  // The length is stored before the text, which is not read for it.
  const selectLengths = engine.query<{ bytes: number }, [number, number, number, number]>(
    `SELECT octet_length(text) AS bytes ${newestBefore}`,
  );
  const selectBefore = engine.query<MessageRow, [number, number, number, number]>(messagePageQuery);
  // Numbers change when messages around them are erased, so a position contains the id.
  const selectNumber = engine.query<{ number: number }, [number, number, string]>(
    "SELECT number FROM messages WHERE conversation_number = ? AND created_at = ? AND id = ?",
  );

  return {
    /** Call it inside a read. */
    read(
      conversationNumber: number,
      page: MessagePageRequest,
    ): { messages: Message[]; nextBefore: MessagePosition | null } {
      const { before, limit } = page;
      const createdAt = before?.createdAt ?? Number.MAX_SAFE_INTEGER;
      const number = before === null ? 0 : (selectNumber.get(conversationNumber, createdAt, before.id)?.number ?? 0);
      // One more than the page shows whether there are older ones.
      const lengths = selectLengths.all(conversationNumber, createdAt, number, limit + 1);
      const count = countInPage(lengths.slice(0, limit));
      const rows = selectBefore.all(conversationNumber, createdAt, number, count);
      const oldest = count < lengths.length ? rows.at(-1) : undefined;
      const nextBefore = oldest === undefined ? null : { createdAt: oldest.createdAt, id: oldest.id };
      return { messages: rows.reverse().map(toMessage), nextBefore };
    },
  };
}

/** How many of them fill a page; the first always fits, however long it is. */
function countInPage(lengths: readonly { bytes: number }[]): number {
  let leftBytes = messagePageBytes;
  const last = lengths.findIndex(({ bytes }) => {
    leftBytes -= bytes;
    return leftBytes <= 0;
  });
  return last === -1 ? lengths.length : last + 1;
}

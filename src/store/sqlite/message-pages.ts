/** The messages of a conversation, a page at a time. */
import type { Message, MessageChannel, MessageRole } from "../../domain/conversation.ts";
import type { MessagePageRequest, MessagePosition } from "../contract/conversations.ts";
import type { SqliteEngine } from "./engine.ts";

/** Of text, after which a page ends, however few messages it holds: what one answer may take of memory. */
const pageBytes = 2 * 1024 * 1024;
/** Read at once, so that a page of long messages is not read far past its end. */
const rowsPerRead = 20;

interface MessageRow {
  number: number;
  id: string;
  role: MessageRole;
  channel: MessageChannel;
  text: string;
  complete: number;
  input_tokens: number | null;
  output_tokens: number | null;
  tokens_estimated: number;
  created_at: number;
}

export const messagePageQuery = `SELECT number, id, role, channel, text, complete, input_tokens, output_tokens, tokens_estimated, created_at
  FROM messages WHERE conversation_number = ? AND (created_at, number) < (?, ?)
  ORDER BY created_at DESC, number DESC LIMIT ?`;

export function createMessagePages(engine: SqliteEngine) {
  const selectBefore = engine.query<MessageRow, [number, number, number, number]>(messagePageQuery);
  // Numbers change when messages around them are erased, so a position has the id.
  const selectNumber = engine.query<{ number: number }, [number, number, string]>(
    "SELECT number FROM messages WHERE conversation_number = ? AND created_at = ? AND id = ?",
  );

  return {
    /** To be called inside a read. */
    read(
      conversationNumber: number,
      page: MessagePageRequest,
    ): { messages: Message[]; nextBefore: MessagePosition | null } {
      const { before, limit } = page;
      let createdAt = before?.createdAt ?? Number.MAX_SAFE_INTEGER;
      let number = before === null ? 0 : (selectNumber.get(conversationNumber, createdAt, before.id)?.number ?? 0);
      const newestFirst: MessageRow[] = [];
      let leftBytes = pageBytes;
      for (;;) {
        const wanted = Math.min(rowsPerRead, limit + 1 - newestFirst.length);
        const rows = selectBefore.all(conversationNumber, createdAt, number, wanted);
        for (const row of rows) {
          // One more than the page holds tells that there are older ones.
          if (newestFirst.length === limit || (leftBytes <= 0 && newestFirst.length > 0)) return cut(newestFirst);
          newestFirst.push(row);
          leftBytes -= Buffer.byteLength(row.text, "utf8");
        }
        const last = rows.at(-1);
        if (last === undefined || rows.length < wanted) {
          return { messages: newestFirst.reverse().map(toMessage), nextBefore: null };
        }
        createdAt = last.created_at;
        number = last.number;
      }
    },
  };
}

function cut(newestFirst: MessageRow[]): { messages: Message[]; nextBefore: MessagePosition | null } {
  const oldest = newestFirst.at(-1);
  const nextBefore = oldest === undefined ? null : { createdAt: oldest.created_at, id: oldest.id };
  return { messages: newestFirst.reverse().map(toMessage), nextBefore };
}

function toMessage(row: MessageRow): Message {
  return {
    id: row.id,
    role: row.role,
    channel: row.channel,
    text: row.text,
    complete: row.complete === 1,
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    tokensEstimated: row.tokens_estimated === 1,
    createdAt: row.created_at,
  };
}

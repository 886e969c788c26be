/** Pages of a conversation's messages: `messages_limit` and `messages_cursor` in, `messages_next_cursor` out. */
import type { QueryReader } from "../../http/query.ts";
import { isUuid } from "../../lib/ids.ts";
import type { ConversationPage, MessagePageRequest, MessagePosition } from "../../store/store.ts";
import { toWireConversation, toWireMessage } from "./model.ts";

export const messagePageParameters = ["messages_limit", "messages_cursor"] as const;
export const defaultMessages = 100;
export const maxMessages = 200;

/** Faults are collected in `query`; its `finish` throws them. */
export function readMessagePage(query: QueryReader): MessagePageRequest {
  const wrongLimit = `Must be a whole number of at least 1 and at most ${maxMessages}.`;
  const wrongCursor = "This is not a cursor of this conversation: use messages_next_cursor unchanged.";
  return {
    limit: query.value("messages_limit", parseLimit, wrongLimit) ?? defaultMessages,
    before: query.value("messages_cursor", decodeCursor, wrongCursor),
  };
}

export function toWireConversationPage({ conversation, messages, nextBefore }: ConversationPage) {
  return {
    ...toWireConversation(conversation),
    messages: messages.map(toWireMessage),
    messages_next_cursor: nextBefore === null ? null : encodeCursor(nextBefore),
  };
}

function parseLimit(text: string): number | undefined {
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  return limit >= 1 && limit <= maxMessages ? limit : undefined;
}

function encodeCursor({ createdAt, id }: MessagePosition): string {
  return Buffer.from(`${createdAt}.${id}`, "utf8").toString("base64url");
}

function decodeCursor(cursor: string): MessagePosition | undefined {
  const [time = "", id = "", ...rest] = Buffer.from(cursor, "base64url").toString("utf8").split(".");
  if (!/^\d{1,15}$/.test(time) || !isUuid(id) || rest.length > 0) return undefined;
  const position = { createdAt: Number(time), id };
  // Encode it again and compare, because decoding skips anything that is not base64url.
  return encodeCursor(position) === cursor ? position : undefined;
}

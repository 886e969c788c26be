/** Pages of a conversation's messages: `messages_limit` and `messages_cursor` in, `messages_next_cursor` out. */
import { Type as t } from "@sinclair/typebox";
import type { ConversationPage, MessagePageRequest, MessagePosition } from "../../contracts/store/store.ts";
import type { Services } from "../../core/dependencies.ts";
import type { Message } from "../../domain/conversation.ts";
import type { ToolCall } from "../../domain/tool.ts";
import type { QueryPart } from "../../http/query.ts";
import { isUuid } from "../../lib/ids.ts";

const defaultMessages = 100;
const maxMessages = 200;

export const messagePageQuery: QueryPart<MessagePageRequest> = {
  parameters: {
    messages_limit: () =>
      t.Integer({
        minimum: 1,
        maximum: maxMessages,
        default: defaultMessages,
        description: "The most messages on a page; very long ones make it shorter.",
      }),
    messages_cursor: () => t.String({ description: "`messages_next_cursor` of the previous page." }),
  },
  read(query) {
    const wrongCursor = "This is not a cursor of this conversation: use messages_next_cursor unchanged.";
    return {
      limit: query.count("messages_limit", maxMessages) ?? defaultMessages,
      before: query.value("messages_cursor", decodeCursor, wrongCursor),
    };
  },
};

/** What the page's replies called; asks for nothing where there can be none. */
export async function listCalls(
  { store }: Pick<Services, "store">,
  { messages, mayHaveCalls }: ConversationPage,
): Promise<ReadonlyMap<string, readonly ToolCall[]>> {
  const replies = mayHaveCalls ? messages.filter(({ role }) => role === "assistant").map(({ id }) => id) : [];
  return replies.length === 0 ? new Map() : await store.toolCalls.listOfReplies(replies);
}

/** The page's messages, as they are shown to this reader. */
export function toWireMessages<Wire>({ messages, nextBefore }: ConversationPage, show: (message: Message) => Wire) {
  return {
    messages: messages.map(show),
    messages_next_cursor: nextBefore === null ? null : encodeCursor(nextBefore),
  };
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

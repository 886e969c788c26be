/** Pages of a conversation's messages: `messages_limit` and `messages_cursor` in, `messages_next_cursor` out. */
import { Type as t } from "@sinclair/typebox";
import type { ConversationPage, MessagePageRequest, MessagePosition } from "../../contracts/store/store.ts";
import type { Services } from "../../core/dependencies.ts";
import type { Message } from "../../domain/conversation.ts";
import type { ToolCall } from "../../domain/tool.ts";
import type { QueryPart } from "../../http/query.ts";
import { isUuid } from "../../lib/ids.ts";
import { pause } from "../../lib/pause.ts";

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

/** Of one response; it holds at least one reply's. */
const maxCallBytes = 2 * 1024 * 1024;
/** Replies whose calls are read together: as many as are a few milliseconds of work, judged by those before. */
const firstRead = 8;
const bytesPerRead = 256 * 1024;

interface PageWithCalls {
  page: ConversationPage;
  /** By the reply's id. */
  calls: ReadonlyMap<string, readonly ToolCall[]>;
}

/** With what the page's replies called, for which it is shortened where that is much. Asks for nothing where there is none. */
export async function readCalls({ store }: Pick<Services, "store">, page: ConversationPage): Promise<PageWithCalls> {
  const calls = new Map<string, readonly ToolCall[]>();
  const newestFirst = page.mayHaveCalls ? page.messages.filter(({ role }) => role === "assistant").reverse() : [];
  let bytes = 0;
  for (let at = 0, count = firstRead; at < newestFirst.length; at += count) {
    if (at > 0) {
      await pause();
      count = Math.max(1, Math.floor((bytesPerRead * at) / (bytes + 1)));
    }
    const some = newestFirst.slice(at, at + count);
    const found = await store.toolCalls.listOfReplies(some.map(({ id }) => id));
    for (const reply of some) {
      const own = found.get(reply.id) ?? [];
      const more = own.reduce((sum, call) => sum + call.arguments.length + (call.result?.length ?? 0), 0);
      if (bytes > 0 && bytes + more > maxCallBytes) return { page: startBehind(page, reply), calls };
      bytes += more;
      if (own.length > 0) calls.set(reply.id, own);
    }
  }
  return { page, calls };
}

/** Only what is newer than this message, of which there is something. */
function startBehind(page: ConversationPage, message: Message): ConversationPage {
  const messages = page.messages.slice(page.messages.indexOf(message) + 1);
  const [{ createdAt, id }] = messages as [Message, ...Message[]];
  return { ...page, messages, nextBefore: { createdAt, id } };
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

/** `/api/conversations`: what was said. */
import type {
  ConversationList,
  ConversationWithMessages,
  GetConversationQuery,
  ListConversationsQuery,
} from "../generated/wire.ts";
import { iteratePages } from "../pages.ts";
import type { CallOptions, Transport } from "../transport.ts";

export function conversationCalls(transport: Transport) {
  const list = (query: ListConversationsQuery = {}, options: CallOptions = {}) =>
    transport.json<ConversationList>({ method: "GET", path: ["api", "conversations"], query }, options);

  return {
    /** One page, newest first. */
    list,
    /** All of them, page after page. */
    listAll: (query: ListConversationsQuery = {}, options: CallOptions = {}) =>
      iteratePages(query, (page) => list(page, options)),

    /** With its newest messages; `messages_next_cursor` leads to older ones. */
    get: (id: string, query: GetConversationQuery = {}, options: CallOptions = {}) =>
      transport.json<ConversationWithMessages>({ method: "GET", path: ["api", "conversations", id], query }, options),

    delete: (id: string, options: CallOptions = {}) =>
      transport.send({ method: "DELETE", path: ["api", "conversations", id] }, options),
  };
}

/** `/api/conversations`: the messages, and what people of the team do with it; `/api/presence`: who is there. */
import type {
  Conversation,
  ConversationEventList,
  ConversationList,
  ConversationNote,
  ConversationPatch,
  ConversationRead,
  ConversationRelease,
  ConversationTake,
  ConversationWithMessages,
  GetConversationQuery,
  ListConversationEventsQuery,
  ListConversationsQuery,
  NewConversationNote,
  PersonMessage,
  PersonTyping,
  Presence,
  PresenceChange,
  ReservedConversation,
  SentPersonMessage,
  TakenConversation,
} from "../generated/wire.ts";
import { makeUuid } from "../ids.ts";
import { iteratePages } from "../pages.ts";
import { type CallOptions, type CreateOptions, creationHeaders, type Transport } from "../transport.ts";

export function conversationCalls(transport: Transport) {
  const path = ["api", "conversations"];
  const list = (query: ListConversationsQuery = {}, options: CallOptions = {}) =>
    transport.json<ConversationList>({ method: "GET", path, query }, options);
  const listEvents = (id: string, query: ListConversationEventsQuery = {}, options: CallOptions = {}) =>
    transport.json<ConversationEventList>({ method: "GET", path: [...path, id, "events"], query }, options);

  return {
    /** One page, newest first. */
    list,
    /** All of them, page after page. */
    listAll: (query: ListConversationsQuery = {}, options: CallOptions = {}) =>
      iteratePages(query, (page) => list(page, options)),

    /** With its newest messages; `messages_next_cursor` leads to older ones. */
    get: (id: string, query: GetConversationQuery = {}, options: CallOptions = {}) =>
      transport.json<ConversationWithMessages>({ method: "GET", path: [...path, id], query }, options),

    delete: (id: string, options: CallOptions = {}) =>
      transport.send({ method: "DELETE", path: [...path, id] }, options),

    /** Only with `stop: false` can it be reserved instead of taken. A colleague's is `conflict`: see `error.problem`. */
    take: (id: string, take: ConversationTake, options: CallOptions = {}) =>
      transport.json<TakenConversation | ReservedConversation>(
        { method: "POST", path: [...path, id, "take"], body: take },
        options,
      ),

    /** The companion answers again. */
    release: (id: string, release: ConversationRelease, options: CallOptions = {}) =>
      transport.send({ method: "POST", path: [...path, id, "release"], body: release }, options),

    /** Writes to the visitor; takes first. Without a `client_id` a random one: the message is written once, however often it is sent. */
    say: (
      id: string,
      message: Omit<PersonMessage, "client_id"> & Partial<Pick<PersonMessage, "client_id">>,
      options: CallOptions = {},
    ) =>
      transport.json<SentPersonMessage>(
        { method: "POST", path: [...path, id, "messages"], body: { client_id: makeUuid(), ...message } },
        options,
      ),

    /** Lapses after 6 s. */
    typing: (id: string, typing: PersonTyping, options: CallOptions = {}) =>
      transport.send({ method: "POST", path: [...path, id, "typing"], body: typing }, options),

    markRead: (id: string, read: ConversationRead, options: CallOptions = {}) =>
      transport.send({ method: "POST", path: [...path, id, "read"], body: read }, options),

    /** Only the fields that are sent change. */
    update: (id: string, patch: ConversationPatch, options: CallOptions = {}) =>
      transport.json<Conversation>({ method: "PATCH", path: [...path, id], body: patch }, options),

    addNote: (id: string, note: NewConversationNote, options: CreateOptions = {}) =>
      transport.json<ConversationNote>(
        { method: "POST", path: [...path, id, "notes"], body: note, headers: creationHeaders(options) },
        options,
      ),

    deleteNote: (id: string, noteId: string, options: CallOptions = {}) =>
      transport.send({ method: "DELETE", path: [...path, id, "notes", noteId] }, options),

    /** What people did with it, newest first. */
    listEvents,
    listAllEvents: (id: string, query: ListConversationEventsQuery = {}, options: CallOptions = {}) =>
      iteratePages(query, (page) => listEvents(id, page, options)),
  };
}

export function presenceCalls(transport: Transport) {
  return {
    /** For `for_seconds` from now on; 0 ends it. */
    set: (presence: PresenceChange, options: CallOptions = {}) =>
      transport.json<Presence>({ method: "PUT", path: ["api", "presence"], body: presence }, options),
  };
}

/** `/api/conversations`: what visitors and companions said, and how to erase it. */
import { Type as t } from "@sinclair/typebox";
import type { ShownPassage } from "../../contracts/store/store.ts";
import { makeErasedEvent } from "../../core/events/event-body.ts";
import type { Message } from "../../domain/conversation.ts";
import { missing, readId } from "../../domain/errors.ts";
import { isSub, maxSubLength } from "../../domain/visitor.ts";
import { readerQuery, readingPersonId } from "../../http/acting-person.ts";
import { idParam, jsonResponse } from "../../http/api-description.ts";
import { listOf } from "../../http/paging.ts";
import { uuidQuery } from "../../http/query.ts";
import { contextOf } from "../../http/request-context.ts";
import { type Route, route } from "../../http/route.ts";
import { ConversationRow, ConversationRows } from "../../http/schemas/conversation.ts";
import { toWireMessage } from "../../http/schemas/message.ts";
import { toUuid } from "../../lib/ids.ts";
import { filterQuery, listConversations } from "./listing.ts";
import { messagePageQuery, readCalls, toWireMessages } from "./message-paging.ts";
import { ConversationWithMessages } from "./responses.ts";
import { readPeople, readRatings } from "./team-conversation.ts";
import { teamRoutes } from "./team-routes.ts";
import { visitorConversationRoutes } from "./visitor-routes.ts";
import { workRoutes } from "./work-routes.ts";

/** A visitor may have said a lot, and the response is sent only when all of it is erased. */
const erasureSilenceSeconds = 120;

const noPassages: ReadonlyMap<string, ShownPassage[]> = new Map();

const makeListResponses = () => ({
  200: jsonResponse("A page of conversations.", listOf(ConversationRow, "ConversationList")),
});

export const conversationRoutes: readonly Route[] = [
  route({
    id: "listConversations",
    method: "GET",
    path: "/api/conversations",
    tag: "Conversations",
    summary: "List conversations",
    access: "conversations:read",
    query: { companionId: uuidQuery("companion_id", () => idParam("companion")), ...filterQuery },
    document: () => ({ responses: makeListResponses() }),
    handle: ({ services, principal, query }) => listConversations(services, principal, query.companionId, query),
  }),
  route({
    id: "listCompanionConversations",
    method: "GET",
    path: "/api/companions/{id}/conversations",
    tag: "Conversations",
    summary: "List a companion's conversations",
    access: "conversations:read",
    query: filterQuery,
    document: () => ({ responses: makeListResponses() }),
    async handle({ services, principal, params, query }) {
      const companion = await services.store.companions.find(principal.account.id, readId(params.id, "companion"));
      if (companion === null) throw missing("companion");
      return listConversations(services, principal, companion.id, query);
    },
  }),
  route({
    id: "getConversation",
    method: "GET",
    path: "/api/conversations/{id}",
    tag: "Conversations",
    summary: "Read a conversation with its messages",
    access: "conversations:read",
    query: { as: readerQuery, page: messagePageQuery },
    document: () => ({
      description: "With the newest page of its messages; `messages_next_cursor` leads to older ones.",
      responses: { 200: jsonResponse("The conversation.", ConversationWithMessages) },
    }),
    async handle({ services, principal, params, query }) {
      const id = readId(params.id, "conversation");
      const found = await services.store.conversations.find(principal.account.id, id, query.page);
      if (found === null) throw missing("conversation");
      const rows = new ConversationRows(services, principal.account.id, readingPersonId(principal, query.as));
      const [shown] = await rows.show([found.conversation]);
      const people = (await rows.hasPeople(found.conversation))
        ? await readPeople(services, principal.account.id, found)
        : {};
      const replies = found.messages.filter(({ role }) => role === "assistant").map(({ id }) => id);
      const seen = replies.length === 0 ? noPassages : await services.store.unanswered.listSeen(id, replies);
      const { page, calls } = await readCalls(services, found);
      const isRated = (await rows.findCompanion(found.conversation.companionId))?.ratings === true;
      const ratings = isRated ? await readRatings(services, principal.account.id, found) : null;
      const show = (message: Message) =>
        toWireMessage(message, seen.get(message.id), calls.get(message.id), ratings?.get(message.id));
      return { ...shown, ...people, ...toWireMessages(page, show) };
    },
  }),
  route({
    id: "deleteConversation",
    method: "DELETE",
    path: "/api/conversations/{id}",
    tag: "Conversations",
    summary: "Delete a conversation",
    access: "conversations:write",
    document: () => ({
      responses: { 204: { description: "Deleted." } },
    }),
    async handle({ services: { store, live }, principal, params, writeContext }) {
      const id = readId(params.id, "conversation");
      const accountId = principal.account.id;
      const isDeleted = await store.conversations.delete(accountId, id, writeContext());
      if (!isDeleted) throw missing("conversation");
      live.noteChanged({ accountId, conversationId: id });
    },
  }),
  route({
    id: "eraseVisitor",
    method: "DELETE",
    path: "/api/companions/{id}/visitors/{sub}",
    tag: "Conversations",
    summary: "Erase all that a visitor said",
    access: "conversations:write",
    document: () => ({
      description:
        "Of the verified visitor with this `sub`, and of the anonymous one with this `visitor_id`: what was said, what is " +
        "known of them, and what was counted. Also erased from the database's files, not only from its tables; where the operator uses PostgreSQL, once that " +
        "has vacuumed them. Earlier backups still contain it. Also 204 for a visitor of whom nothing is stored.",
      params: {
        sub: t.String({
          minLength: 1,
          maxLength: maxSubLength,
          description: "The visitor's `sub`, or `visitor_id`; percent-encoded.",
          examples: ["customer-42"],
        }),
      },
      responses: { 204: { description: "Erased." } },
    }),
    async handle({ services, request, principal, params, writeContext }) {
      const { store, ids, visitors } = services;
      const companionId = readId(params.id, "companion");
      if (!isSub(params.sub)) throw missing("visitor");
      contextOf(request, ids).allowSilence(erasureSilenceSeconds);
      const accountId = principal.account.id;
      const visitorIds = [await visitors.findId(accountId, params.sub), toUuid(params.sub) ?? null];
      const known = visitorIds.filter((id) => id !== null);
      const context = writeContext();
      const event = await makeErasedEvent(services, { accountId, companionId }, params.sub, context);
      const isKnown = await store.conversations.eraseVisitors(accountId, companionId, known, context, event);
      if (!isKnown) throw missing("companion");
      services.live.noteErased(companionId);
    },
  }),
  ...teamRoutes,
  ...workRoutes,
  ...visitorConversationRoutes,
];

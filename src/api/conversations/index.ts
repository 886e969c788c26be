/** `/api/conversations`: what visitors and companions said, and how to erase it. */
import { Type as t } from "@sinclair/typebox";
import type { ShownPassage } from "../../contracts/store/store.ts";
import type { Services } from "../../core/dependencies.ts";
import { makeErasedEvent } from "../../core/events/event-body.ts";
import type { Message } from "../../domain/conversation.ts";
import { missing, readId } from "../../domain/resource-id.ts";
import { isSub, maxSubLength } from "../../domain/visitor.ts";
import { idParam, jsonResponse } from "../../http/api-description.ts";
import { collectList, updatedPageQuery } from "../../http/paging.ts";
import { type QueryValues, rangeQuery, uuidQuery, valueQuery } from "../../http/query.ts";
import { contextOf } from "../../http/request-context.ts";
import { type Route, route } from "../../http/route.ts";
import { listOf } from "../../http/schemas/list.ts";
import { Text } from "../../http/schemas/schema.ts";
import { toUuid } from "../../lib/ids.ts";
import { messagePageQuery, readCalls, toWireMessages } from "./message-paging.ts";
import { ConversationObject, ConversationWithMessages, showConversation, toWireMessage } from "./responses.ts";
import { visitorConversationRoutes } from "./visitor-routes.ts";

/** A visitor may have said a lot, and the response is sent only when all of it is erased. */
const erasureSilenceSeconds = 120;

const noPassages: ReadonlyMap<string, ShownPassage[]> = new Map();

/** Longer texts would only cost time. */
const maxSearchLength = 200;

const filterQuery = {
  visitorId: uuidQuery("visitor_id", () =>
    Text({ description: "Only those of this visitor.", examples: ["0b8f3f5e-59a5-4d3b-9f5e-8c3a9d8a1c11"] }),
  ),
  visitorSub: valueQuery(
    "visitor_sub",
    () =>
      Text({
        minLength: 1,
        maxLength: maxSubLength,
        description: "Only those of the verified visitor whom the website calls by this `sub`.",
        examples: ["customer-42"],
      }),
    (text) => (isSub(text) ? text : undefined),
    `Must be 1 to ${maxSubLength} characters.`,
  ),
  range: rangeQuery,
  q: valueQuery(
    "q",
    () =>
      Text({
        maxLength: maxSearchLength,
        description:
          "Part of any message's text, in any case. A page may then have fewer items than `limit`, or none, although `next_cursor` leads to more.",
        examples: ["opening hours"],
      }),
    (text) => (text.length <= maxSearchLength ? text || null : undefined),
    `Must be at most ${maxSearchLength} characters.`,
  ),
  page: updatedPageQuery,
};

async function listConversations(
  { store, visitors }: Services,
  accountId: string,
  companionId: string | null,
  { visitorId, visitorSub, range, q, page }: QueryValues<typeof filterQuery>,
) {
  const verifiedId = visitorSub === null ? null : await visitors.findId(accountId, visitorSub);
  // Nobody is both, nor one who was never seen.
  const isNobody = visitorSub !== null && (verifiedId === null || visitorId !== null);
  const { updatedSinceMs } = page;
  const filter = { companionId, visitorId: verifiedId ?? visitorId, ...range, q, updatedSinceMs };
  return collectList(
    page,
    async (part) =>
      isNobody ? { items: [], nextAfterId: null } : await store.conversations.list(accountId, filter, part),
    (conversation) => showConversation(visitors, conversation),
  );
}

const makeListResponses = () => ({
  200: jsonResponse("A page of conversations.", listOf(ConversationObject, "ConversationList")),
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
    handle: ({ services, principal, query }) =>
      listConversations(services, principal.account.id, query.companionId, query),
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
    async handle({ services, principal: { account }, params, query }) {
      const companion = await services.store.companions.find(account.id, readId(params.id, "companion"));
      if (companion === null) throw missing("companion");
      return listConversations(services, account.id, companion.id, query);
    },
  }),
  route({
    id: "getConversation",
    method: "GET",
    path: "/api/conversations/{id}",
    tag: "Conversations",
    summary: "Read a conversation with its messages",
    access: "conversations:read",
    query: { page: messagePageQuery },
    document: () => ({
      description: "With the newest page of its messages; `messages_next_cursor` leads to older ones.",
      responses: { 200: jsonResponse("The conversation.", ConversationWithMessages) },
    }),
    async handle({ services, principal, params, query }) {
      const id = readId(params.id, "conversation");
      const found = await services.store.conversations.find(principal.account.id, id, query.page);
      if (found === null) throw missing("conversation");
      const shown = await showConversation(services.visitors, found.conversation);
      const replies = found.messages.filter(({ role }) => role === "assistant").map(({ id }) => id);
      const seen = replies.length === 0 ? noPassages : await services.store.unanswered.listSeen(id, replies);
      const { page, calls } = await readCalls(services, found);
      const show = (message: Message) => toWireMessage(message, seen.get(message.id), calls.get(message.id));
      return { ...shown, ...toWireMessages(page, show) };
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
    async handle({ services: { store }, principal, params, writeContext }) {
      const id = readId(params.id, "conversation");
      const isDeleted = await store.conversations.delete(principal.account.id, id, writeContext());
      if (!isDeleted) throw missing("conversation");
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
    },
  }),
  ...visitorConversationRoutes,
];

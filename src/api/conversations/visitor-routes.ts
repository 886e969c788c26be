/**
 * `/api/embed/{token}/conversations`: what verified visitors read of their own conversations, and how they take over one
 * that was anonymous.
 */
import { Type as t } from "@sinclair/typebox";
import { maxWaitSeconds, whileQuiet } from "../../core/turns/quiet-conversation.ts";
import type { Message } from "../../domain/conversation.ts";
import { missing, readId } from "../../domain/errors.ts";
import { jsonResponse } from "../../http/api-description.ts";
import { embedBodyLimitBytes, jsonBody } from "../../http/json-body.ts";
import { listOf, pageQuery, toWireList } from "../../http/paging.ts";
import { contextOf } from "../../http/request-context.ts";
import { type Route, route } from "../../http/route.ts";
import { nullishUuid } from "../../http/schemas/chat-message.ts";
import { compileChecker, Text, uuidPattern } from "../../http/schemas/schema.ts";
import { messagePageQuery, readCalls, toWireMessages } from "./message-paging.ts";
import { OwnConversation, OwnConversationWithMessages, toVisitorConversation, toVisitorMessage } from "./responses.ts";

/** A conversation that was anonymous until now, to be moved to a verified visitor. */
const mergeBody = compileChecker(() =>
  t.Object(
    {
      session_id: Text({
        pattern: uuidPattern,
        problem: "Must be a UUID.",
        description: "The `session_id` of the conversation.",
        examples: ["7b1f5f0e-6c1e-4a55-8d0c-0d7f3d1b9a10"],
      }),
      visitor_id: nullishUuid("Its `visitor_id`; null or left out: the conversation without one."),
    },
    { $id: "VisitorMerge" },
  ),
);

/** The same address has another answer for each visitor. */
const privateHeaders = { "cache-control": "no-store" };

export const visitorConversationRoutes: readonly Route[] = [
  route({
    id: "listOwnConversations",
    method: "GET",
    path: "/api/embed/{token}/conversations",
    tag: "Embed",
    summary: "List a verified visitor's conversations",
    access: "visitor",
    query: { page: pageQuery },
    document: () => ({
      responses: { 200: jsonResponse("A page of the visitor's own.", listOf(OwnConversation, "OwnConversationList")) },
      errors: ["invalid_request"],
    }),
    async handle({ services: { store }, set, target: { companion }, visitor, query: { page } }) {
      Object.assign(set.headers, privateHeaders);
      const filter = { companionId: companion.id, visitorId: visitor.id, fromMs: null, toMs: null, q: null };
      return toWireList(await store.conversations.list(companion.accountId, filter, page), toVisitorConversation);
    },
  }),
  route({
    id: "getOwnConversation",
    method: "GET",
    path: "/api/embed/{token}/conversations/{id}",
    tag: "Embed",
    summary: "Read one of a verified visitor's conversations",
    access: "visitor",
    query: { page: messagePageQuery },
    document: () => ({
      description: "With the newest page of its messages; `messages_next_cursor` leads to older ones.",
      responses: { 200: jsonResponse("The conversation.", OwnConversationWithMessages) },
      errors: ["invalid_request"],
    }),
    async handle({ services, set, target: { companion }, visitor, params, query: { page } }) {
      Object.assign(set.headers, privateHeaders);
      const found = await services.store.conversations.find(
        companion.accountId,
        readId(params.id, "conversation"),
        page,
      );
      const isOwn = found?.conversation.companionId === companion.id && found.conversation.visitorId === visitor.id;
      if (!isOwn) throw missing("conversation");
      const { page: shown, calls } = await readCalls(services, found);
      const show = (message: Message) => toVisitorMessage(message, calls.get(message.id));
      return { ...toVisitorConversation(found.conversation), ...toWireMessages(shown, show) };
    },
  }),
  route({
    id: "mergeVisitor",
    method: "POST",
    path: "/api/embed/{token}/visitor/merge",
    tag: "Embed",
    summary: "Take over a conversation from before the visitor was verified",
    access: "visitor",
    body: jsonBody(mergeBody, { limitBytes: embedBodyLimitBytes }),
    document: () => ({
      description:
        "Also 204, without any change, if there is no such anonymous conversation, or the visitor has one of that session " +
        "already. It waits for a reply that is still running.",
      responses: { 204: { description: "The conversation is the visitor's." } },
    }),
    async handle({ services, request, target: { companion }, visitor, readBody }) {
      const arrivalMark = services.coordination.arrivals.mark();
      const { session_id, visitor_id } = await readBody();
      const from = {
        companionId: companion.id,
        sessionId: session_id.toLowerCase(),
        visitorId: visitor_id?.toLowerCase() ?? null,
      };
      const taking = { id: visitor.id, sealed: await services.visitors.seal(visitor), arrivalMark };
      contextOf(request, services.ids).allowSilence(maxWaitSeconds + 10);
      const { store, live } = services;
      // Only then someone can listen to it.
      const before = companion.handoff === null ? null : await store.handoffs.findLive(from);
      await whileQuiet(services, from, request.signal, () => store.conversations.merge(from, taking));
      if (before !== null) live.noteChanged({ ...before, key: from });
    },
  }),
];

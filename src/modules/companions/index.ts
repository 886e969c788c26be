/** `/api/companions`: companions, and the owner's trial chat. */
import { instructFor } from "../../domain/visitor-prompt.ts";
import { eventStream, idParam, jsonResponse } from "../../http/api-description.ts";
import { readSlot } from "../../http/idempotency.ts";
import { jsonBody, uncheckedBody } from "../../http/json-body.ts";
import { pageQuery, toWireList } from "../../http/paging.ts";
import { metadataFilters, textQuery } from "../../http/query.ts";
import { contextOf } from "../../http/request-context.ts";
import { type Route, route } from "../../http/route.ts";
import { EventStream } from "../../http/sse.ts";
import { respondWithTurn } from "../../http/stream-response.ts";
import { listOf } from "../../schemas/list.ts";
import { Text } from "../../schemas/schema.ts";
import { Turn } from "../../turns/turn.ts";
import { embedTokenRoutes } from "./embed-token-routes.ts";
import { companionPatchBody, newCompanionBody, testChatBody, toWireCompanion } from "./model.ts";
import { CompanionObject } from "./responses.ts";
import { deleteCompanion, getCompanion, prepareCompanion, updateCompanion } from "./service.ts";
import { rightToTry, TrialKeeper } from "./test-chat.ts";

const makeParams = () => ({ id: idParam("companion") });

export const companionRoutes: readonly Route[] = [
  route({
    id: "createCompanion",
    method: "POST",
    path: "/api/companions",
    tag: "Companions",
    summary: "Create a companion",
    access: "companions:write",
    body: uncheckedBody(newCompanionBody),
    isIdempotent: true,
    document: () => ({
      bodyExample: {
        name: "Ada",
        system_prompt: "You help customers of a bicycle shop.",
        greeting: "Hi! Looking for a bicycle?",
        theme_color: "#0f766e",
        metadata: { customer_id: "c_42", plan: "pro" },
        allowed_origins: ["https://shop.example"],
        starters: ["When are you open?"],
      },
      responses: {
        201: jsonResponse("The companion, with its first embed token.", CompanionObject),
      },
    }),
    handle: ({ services, principal, createOnce }) =>
      createOnce(async (body, { nowMs }) => {
        const { made, write } = await prepareCompanion(services, principal, body, nowMs);
        return { response: toWireCompanion(made), write };
      }),
  }),
  route({
    id: "listCompanions",
    method: "GET",
    path: "/api/companions",
    tag: "Companions",
    summary: "List companions, filtered by metadata",
    access: "companions:read",
    query: {
      q: textQuery("q", () =>
        Text({ description: "Part of the name, in any case, or an exact id.", examples: ["ada"] }),
      ),
      page: pageQuery,
      metadata: metadataFilters,
    },
    document: () => ({
      responses: {
        200: jsonResponse("A page of companions.", listOf(CompanionObject, "CompanionList")),
      },
    }),
    async handle({ services, principal, query: { q, page, metadata } }) {
      const filters = { metadata, q: q === "" ? null : q };
      const companions = await services.store.companions.list(principal.account.id, filters, page);
      return toWireList(companions, toWireCompanion);
    },
  }),
  route({
    id: "getCompanion",
    method: "GET",
    path: "/api/companions/{id}",
    tag: "Companions",
    summary: "Read a companion",
    access: "companions:read",
    document: () => ({
      params: makeParams(),
      responses: { 200: jsonResponse("The companion.", CompanionObject) },
    }),
    handle: async ({ services, principal, params }) =>
      toWireCompanion(await getCompanion(services, principal, params.id)),
  }),
  route({
    id: "updateCompanion",
    method: "PATCH",
    path: "/api/companions/{id}",
    tag: "Companions",
    summary: "Change a companion",
    access: "companions:write",
    body: uncheckedBody(companionPatchBody),
    document: () => ({
      description:
        "Top-level fields are merged, all or none. Read-only fields that are sent back are ignored. A change that makes the " +
        "companion no larger is always possible, also above the account's limit.",
      params: makeParams(),
      bodyExample: { name: "Grace", greeting: null, metadata: { plan: "basic" } },
      responses: {
        200: jsonResponse("The companion as it is now.", CompanionObject),
      },
      errors: ["limit_reached"],
    }),
    async handle({ services, principal, params, readBody, writeContext }) {
      const current = await getCompanion(services, principal, params.id);
      const updated = await updateCompanion(services, principal, current, await readBody(), writeContext());
      return toWireCompanion(updated);
    },
  }),
  route({
    id: "deleteCompanion",
    method: "DELETE",
    path: "/api/companions/{id}",
    tag: "Companions",
    summary: "Delete a companion with its tokens and conversations",
    access: "companions:write",
    document: () => ({
      description: "Its usage is kept. A voice agent that the server keeps for it is deleted too.",
      params: makeParams(),
      responses: { 204: { description: "Deleted; its embed tokens are refused from now on." } },
    }),
    handle: ({ services, principal, params, writeContext }) =>
      deleteCompanion(services, principal, params.id, writeContext()),
  }),
  route({
    id: "testChat",
    method: "POST",
    path: "/api/companions/{id}/test-chat",
    tag: "Companions",
    summary: "Try a companion as its owner",
    access: "companions:write",
    body: jsonBody(testChatBody),
    document: () => ({
      description:
        "The reply as a visitor would get it, without the embed routes' limits per minute. No conversation is stored. It " +
        "counts in usage and uses one message of the companion's daily quota, given back if the provider refuses.",
      params: makeParams(),
      responses: { 200: eventStream },
      errors: ["quota_exceeded", "budget_exceeded", "upstream_error"],
    }),
    async handle({ services, principal, request, params, set, readBody }) {
      // The key is checked as everywhere, but a stream is never replayed.
      readSlot(request, principal);
      // As for a visitor who is not known.
      const companion = instructFor(await getCompanion(services, principal, params.id), null);
      const body = await readBody();
      const context = contextOf(request, services.ids);
      const stream = new EventStream(request.signal, services.heartbeats);
      const turn = new Turn(services, {
        companion,
        plan: principal.account.plan,
        keyId: companion.createdByKeyId,
        message: body.message,
        requestId: context.requestId,
        address: null,
        right: rightToTry(services.store.companions, companion),
        keeper: new TrialKeeper(services.store, companion, body, (text) => stream.comment(text)),
        named: null,
        visitor: null,
      });
      return respondWithTurn(turn, stream, set, context);
    },
  }),
  ...embedTokenRoutes,
];

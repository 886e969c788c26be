/** `/api/companions`: companions, and the owner's trial chat. */
import type { PageRequest } from "../../contracts/store/store.ts";
import { Turn } from "../../core/turns/turn.ts";
import { nobody } from "../../core/turns/turn-start.ts";
import { UnkeptTurns } from "../../core/turns/unkept-turns.ts";
import { explainFailure, toExplainedError } from "../../domain/reply-failure.ts";
import { instructFor } from "../../domain/visitor-prompt.ts";
import { eventStream, jsonResponse } from "../../http/api-description.ts";
import { rightToTry } from "../../http/caller-right.ts";
import { readSlot } from "../../http/idempotency.ts";
import { isMergePatch, jsonBody, uncheckedBody } from "../../http/json-body.ts";
import { collectList } from "../../http/paging.ts";
import { addTag, readCheck, respondVersioned } from "../../http/preconditions.ts";
import { contextOf } from "../../http/request-context.ts";
import { type Route, route } from "../../http/route.ts";
import { listOf } from "../../http/schemas/list.ts";
import { EventStream } from "../../http/sse.ts";
import { respondWithTurn } from "../../http/stream-response.ts";
import { applyRoute } from "./apply/index.ts";
import { batchRoute } from "./batch-route.ts";
import { embedTokenRoutes } from "./embed-token-routes.ts";
import { companionListQuery, matchesText, toListedCompanion } from "./list-query.ts";
import { companionPatchBody, newCompanionBody, testChatBody, toHistory, toWireTrace } from "./model.ts";
import { CompanionObject, toShownCompanion, toWireCompanion } from "./responses.ts";
import { deleteCompanion, getCompanion, prepareCompanion, updateCompanion } from "./service.ts";

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
        201: jsonResponse("The companion, with its first embed token.", CompanionObject, "ETag"),
      },
    }),
    handle: ({ services, principal, set, createOnce }) =>
      createOnce(async (body, { nowMs }) => {
        const { made, write } = await prepareCompanion(services, principal, body, nowMs);
        return { response: toWireCompanion(made), write };
      }).then((text) => {
        addTag(set, text);
        return text;
      }),
  }),
  batchRoute,
  applyRoute,
  route({
    id: "listCompanions",
    method: "GET",
    path: "/api/companions",
    tag: "Companions",
    summary: "List companions, filtered by metadata",
    access: "companions:read",
    query: companionListQuery,
    document: () => ({
      responses: {
        200: jsonResponse(
          "A page of companions. With `fields`, each has `id` and the fields that were asked for alone.",
          // Whole ones to generated clients: a union would have to be told apart wherever an item is used.
          listOf(CompanionObject, "CompanionList"),
        ),
      },
    }),
    async handle({ services, principal, query: { q, slug, page, isEnabled, fields, metadata } }) {
      const { updatedSinceMs } = page;
      const named = slug === null ? null : await services.store.companions.findBySlug(principal.account.id, slug);
      const isNamed = slug === null || (named !== null && (q === null || matchesText(named, q)));
      if (!isNamed) return { data: [], next_cursor: null };
      // By its id, so that all other filters hold as well.
      const filters = { metadata, q: named?.id ?? (q === "" ? null : q), isEnabled, updatedSinceMs };
      const read = (part: PageRequest) => services.store.companions.list(principal.account.id, filters, part);
      return collectList(page, read, toListedCompanion(fields, principal));
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
      description: "Members who are responders read it without `system_prompt` and `embed_token`, in lists as well.",
      headers: ["If-None-Match"],
      responses: {
        200: jsonResponse("The companion.", CompanionObject, "ETag"),
        304: { description: "Unchanged since the version of `If-None-Match`.", headers: ["ETag"] },
      },
    }),
    async handle({ services, request, set, principal, params }) {
      const companion = await getCompanion(services, principal, params.id);
      return respondVersioned(request, set, toShownCompanion(principal)(companion));
    },
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
        "Top-level fields are merged, all or none. `metadata` is replaced as a whole, but merged too where the body is a JSON " +
        "Merge Patch (RFC 7396). Read-only fields that are sent back are ignored. A change that makes the companion no larger " +
        "is always possible, also above the account's limit.",
      headers: ["If-Match"],
      bodyExample: { name: "Grace", greeting: null, metadata: { plan: "basic" } },
      responses: {
        200: jsonResponse("The companion as it is now.", CompanionObject, "ETag"),
      },
      errors: ["limit_reached", "precondition_failed"],
    }),
    async handle({ services, principal, request, set, params, readBody, writeContext }) {
      const current = await getCompanion(services, principal, params.id);
      const check = readCheck(request, toWireCompanion);
      check?.(current);
      const body = await readBody();
      const patch = { body, isMerge: isMergePatch(request), check };
      return respondVersioned(
        request,
        set,
        toWireCompanion(await updateCompanion(services, principal, current, patch, writeContext())),
      );
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
      headers: ["If-Match"],
      responses: { 204: { description: "Deleted; its embed tokens are refused from now on." } },
      errors: ["precondition_failed"],
    }),
    handle: ({ services, principal, request, params, writeContext }) =>
      deleteCompanion(services, principal, params.id, writeContext(), () => readCheck(request, toWireCompanion)),
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
        "counts in usage and uses one message of the companion's daily quota, refunded if the provider fails without having " +
        "counted anything. The 502 has the reason in `kind`, and in its sentence what to change; if the stream has begun, " +
        "a comment line `: failure {…}` has it before the end. If the key or session ends, the stream does within a second.",
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
      const startedMs = performance.now();
      const storage = new UnkeptTurns(services.store, companion, toHistory(body), (result) => {
        if (body.trace !== true || !result.isCounted) return;
        stream.comment(`trace ${JSON.stringify(toWireTrace(result, performance.now() - startedMs))}`);
      });
      const turn = new Turn(services, {
        companion,
        plan: principal.account.plan,
        keyId: companion.createdByKeyId,
        message: body.message,
        requestId: context.requestId,
        address: null,
        right: rightToTry(services, principal, companion.id),
        storage,
        named: null,
        visitor: null,
        caller: nobody,
        noteFailure: (kind) => stream.comment(`failure ${JSON.stringify(explainFailure(kind))}`),
      });
      return respondWithTurn(turn, stream, set, context).catch((error: unknown) => {
        throw toExplainedError(error);
      });
    },
  }),
  ...embedTokenRoutes,
];

/** `/api/companions`: companions. */
import type { PageRequest } from "../../contracts/store/store.ts";
import { jsonResponse } from "../../http/api-description.ts";
import { isMergePatch, uncheckedBody } from "../../http/json-body.ts";
import { collectList, listOf } from "../../http/paging.ts";
import { addTag, readCheck, respondVersioned } from "../../http/preconditions.ts";
import { type Route, route } from "../../http/route.ts";
import { applyRoute } from "./apply/index.ts";
import { avatarRoutes } from "./avatar-routes.ts";
import { batchRoute } from "./batch-route.ts";
import { draftRoutes } from "./draft-routes.ts";
import { embedTokenRoutes } from "./embed-token-routes.ts";
import { companionListQuery, matchesText, toListedCompanion } from "./list-query.ts";
import { companionPatchBody, newCompanionBody } from "./model.ts";
import { CompanionObject, toShownCompanion, toVersion, toWireCompanion } from "./responses.ts";
import { deleteCompanion, getCompanion, prepareCompanion, updateCompanion } from "./service.ts";
import { setRoute } from "./set-route.ts";
import { testChatRoute } from "./test-chat-route.ts";
import { versionRoutes } from "./version-routes.ts";

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
      const toShown = toShownCompanion(principal);
      return respondVersioned(request, set, toShown(companion), toShown({ ...companion, seenOn: null }));
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
      headers: ["If-Match", "X-Change-Note"],
      bodyExample: { name: "Grace", greeting: null, metadata: { plan: "basic" } },
      responses: {
        200: jsonResponse("The companion as it is now.", CompanionObject, "ETag"),
      },
      errors: ["limit_reached", "precondition_failed"],
    }),
    async handle({ services, principal, request, set, params, readBody, writeContext }) {
      const current = await getCompanion(services, principal, params.id);
      const check = readCheck(request, toVersion);
      check?.(current);
      const body = await readBody();
      const patch = { body, isMerge: isMergePatch(request), check };
      const updated = await updateCompanion(services, principal, current, patch, writeContext());
      return respondVersioned(request, set, toWireCompanion(updated), toVersion(updated));
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
      deleteCompanion(services, principal, params.id, writeContext(), () => readCheck(request, toVersion)),
  }),
  ...avatarRoutes,
  testChatRoute,
  ...versionRoutes,
  ...draftRoutes,
  setRoute,
  ...embedTokenRoutes,
];

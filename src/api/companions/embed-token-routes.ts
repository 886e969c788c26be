/** `/api/companions/{id}/embed-tokens`: what opens a companion to visitors. */
import { jsonResponse } from "../../http/api-description.ts";
import { jsonBody } from "../../http/json-body.ts";
import { cutPage, listOf, pageQuery, toWireList } from "../../http/paging.ts";
import { type Route, route } from "../../http/route.ts";
import { newEmbedTokenBody } from "./model.ts";
import { EmbedTokenObject, toWireEmbedToken } from "./responses.ts";
import { getCompanion, listEmbedTokens, prepareEmbedToken, revokeEmbedToken } from "./service.ts";

export const embedTokenRoutes: readonly Route[] = [
  route({
    id: "listEmbedTokens",
    method: "GET",
    path: "/api/companions/{id}/embed-tokens",
    tag: "Companions",
    summary: "List a companion's valid embed tokens",
    access: "companions:read",
    query: { page: pageQuery },
    document: () => ({
      responses: {
        200: jsonResponse("A page of tokens.", listOf(EmbedTokenObject, "EmbedTokenList")),
      },
    }),
    async handle({ services, principal, params, query }) {
      const tokens = await listEmbedTokens(services, principal, params.id);
      return toWireList(cutPage(tokens, query.page), toWireEmbedToken);
    },
  }),
  route({
    id: "createEmbedToken",
    method: "POST",
    path: "/api/companions/{id}/embed-tokens",
    tag: "Companions",
    summary: "Add an embed token",
    access: "companions:write",
    body: jsonBody(newEmbedTokenBody, { isOptional: true, answer: EmbedTokenObject }),
    isIdempotent: true,
    document: () => ({
      responses: { 201: jsonResponse("The token.", EmbedTokenObject) },
    }),
    async handle({ services, principal, params, createOnce }) {
      const companion = await getCompanion(services, principal, params.id);
      return createOnce((body, { nowMs }) => {
        const { made, write } = prepareEmbedToken(services, companion, body, nowMs);
        return { response: toWireEmbedToken(made), write };
      });
    },
  }),
  route({
    id: "revokeEmbedToken",
    method: "DELETE",
    path: "/api/companions/{id}/embed-tokens/{token_id}",
    tag: "Companions",
    summary: "Revoke an embed token",
    access: "companions:write",
    document: () => ({
      responses: { 204: { description: "Revoked: refused from now on." } },
    }),
    handle: ({ services, principal, params, writeContext }) =>
      revokeEmbedToken(services, principal, params.id, params.tokenId, writeContext()),
  }),
];

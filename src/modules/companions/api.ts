/** The companions' routes, for the API document. */
import { type ApiOperation, eventStream, idParam, pageQuery } from "../../http/api-description.ts";
import { listOf } from "../../schemas/list.ts";
import { Text } from "../../schemas/schema.ts";
import { companionPatchBody, newCompanionBody, newEmbedTokenBody, testChatBody } from "./model.ts";
import { CompanionObject, EmbedTokenObject } from "./responses.ts";

const params = { id: idParam("companion") };
const tokenPath = "/api/companions/{id}/embed-tokens";

const companionRoutes: ApiOperation[] = [
  {
    id: "createCompanion",
    method: "POST",
    path: "/api/companions",
    tag: "Companions",
    summary: "Create a companion",
    access: "companions:write",
    body: {
      schema: newCompanionBody.schema,
      example: {
        name: "Ada",
        system_prompt: "You help customers of a bicycle shop.",
        greeting: "Hi! Looking for a bicycle?",
        theme_color: "#0f766e",
        metadata: { customer_id: "c_42", plan: "pro" },
        allowed_origins: ["https://shop.example"],
        starters: ["When are you open?"],
      },
    },
    isIdempotent: true,
    answers: {
      201: {
        description: "The companion, with its first embed token.",
        content: { "application/json": CompanionObject },
      },
    },
  },
  {
    id: "listCompanions",
    method: "GET",
    path: "/api/companions",
    tag: "Companions",
    summary: "List companions, filtered by metadata",
    access: "companions:read",
    query: {
      q: Text({ description: "Part of the name, in any case, or an exact id.", examples: ["ada"] }),
      ...pageQuery,
    },
    takesMetadata: true,
    answers: {
      200: {
        description: "A page of companions.",
        content: { "application/json": listOf(CompanionObject, "CompanionList") },
      },
    },
  },
  {
    id: "getCompanion",
    method: "GET",
    path: "/api/companions/{id}",
    tag: "Companions",
    summary: "Read a companion",
    access: "companions:read",
    params,
    answers: { 200: { description: "The companion.", content: { "application/json": CompanionObject } } },
  },
  {
    id: "updateCompanion",
    method: "PATCH",
    path: "/api/companions/{id}",
    tag: "Companions",
    summary: "Change a companion",
    description:
      "Top-level fields are merged, all or none. Read-only fields that are sent back are ignored. A change that makes the " +
      "companion no larger is always possible, also above the account's limit.",
    access: "companions:write",
    params,
    body: {
      schema: companionPatchBody.schema,
      example: { name: "Grace", greeting: null, metadata: { plan: "basic" } },
    },
    answers: { 200: { description: "The companion as it is now.", content: { "application/json": CompanionObject } } },
    errors: ["limit_reached"],
  },
  {
    id: "deleteCompanion",
    method: "DELETE",
    path: "/api/companions/{id}",
    tag: "Companions",
    summary: "Delete a companion with its tokens and conversations",
    description: "Its usage is kept. A voice agent that the server kept for it is deleted too.",
    access: "companions:write",
    params,
    answers: { 204: { description: "Deleted; its embed tokens are refused from now on." } },
  },
  {
    id: "testChat",
    method: "POST",
    path: "/api/companions/{id}/test-chat",
    tag: "Companions",
    summary: "Try a companion as its owner",
    description:
      "The reply as a visitor would get it, without the embed routes' limits a minute. Nothing is kept as a " +
      "conversation; it is one message of the companion's day and in usage, given back where the provider refuses.",
    access: "companions:write",
    params,
    body: { schema: testChatBody.schema },
    answers: { 200: eventStream },
    errors: ["quota_exceeded", "upstream_error"],
  },
];

const embedTokenRoutes: ApiOperation[] = [
  {
    id: "listEmbedTokens",
    method: "GET",
    path: tokenPath,
    tag: "Companions",
    summary: "List a companion's valid embed tokens",
    access: "companions:read",
    params,
    query: pageQuery,
    answers: {
      200: {
        description: "A page of tokens.",
        content: { "application/json": listOf(EmbedTokenObject, "EmbedTokenList") },
      },
    },
  },
  {
    id: "createEmbedToken",
    method: "POST",
    path: tokenPath,
    tag: "Companions",
    summary: "Add an embed token",
    access: "companions:write",
    params,
    body: { schema: newEmbedTokenBody.schema, isOptional: true },
    isIdempotent: true,
    answers: { 201: { description: "The token.", content: { "application/json": EmbedTokenObject } } },
  },
  {
    id: "revokeEmbedToken",
    method: "DELETE",
    path: `${tokenPath}/{token_id}`,
    tag: "Companions",
    summary: "Revoke an embed token",
    access: "companions:write",
    params: { ...params, token_id: idParam("embed token") },
    answers: { 204: { description: "Revoked: refused from now on." } },
  },
];

export const companionsApi: ApiOperation[] = [...companionRoutes, ...embedTokenRoutes];

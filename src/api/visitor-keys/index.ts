/** `/api/visitor-keys`: the keys with which the account's websites sign tokens for their visitors. */
import { maxKeysOfFilter, maxVisitorKeys } from "../../domain/visitor.ts";
import { jsonResponse } from "../../http/api-description.ts";
import { uncheckedBody } from "../../http/json-body.ts";
import { listOf, pageQuery, toWireList } from "../../http/paging.ts";
import { type Route, route } from "../../http/route.ts";
import { newVisitorKeyBody } from "./model.ts";
import { NewVisitorKeyObject, toWireVisitorKey, VisitorKeyObject } from "./responses.ts";
import { prepareVisitorKey, revokeVisitorKey, showVisitorKey } from "./service.ts";

export const visitorKeyRoutes: readonly Route[] = [
  route({
    id: "listVisitorKeys",
    method: "GET",
    path: "/api/visitor-keys",
    tag: "Visitor keys",
    summary: "List visitor keys",
    access: "keys:read",
    query: { page: pageQuery },
    document: () => ({
      description: "Revoked ones are not listed.",
      responses: { 200: jsonResponse("A page of visitor keys.", listOf(VisitorKeyObject, "VisitorKeyList")) },
    }),
    async handle({ services, principal: { account }, query }) {
      const { items: keys, ...page } = await services.store.visitorKeys.list(account.id, query.page);
      const items = await Promise.all(keys.map((key) => showVisitorKey(services, account.id, key)));
      return toWireList({ ...page, items }, toWireVisitorKey);
    },
  }),
  route({
    id: "createVisitorKey",
    method: "POST",
    path: "/api/visitor-keys",
    tag: "Visitor keys",
    summary: "Create a visitor key",
    access: "keys:write",
    body: uncheckedBody(newVisitorKeyBody),
    isIdempotent: true,
    document: () => ({
      description:
        "A key without `metadata` vouches for the visitors of all companions, and belongs on the platform's own servers only. " +
        "What a customer's website holds has that customer's `metadata`: for other companions its tokens are 401. " +
        `At most ${maxKeysOfFilter} keys with the same \`metadata\` live at the same time, so that one can replace the ` +
        "other: create the new one, let the websites sign with it, revoke the old one. One more is 409 `conflict`. " +
        `An account has up to ${maxVisitorKeys} keys.`,
      bodyExample: { name: "shop backend", algorithm: "HS256" },
      responses: { 201: jsonResponse("The key: the only time that a secret is shown.", NewVisitorKeyObject) },
    }),
    handle: ({ services, principal, createOnce }) =>
      createOnce(async (body, { nowMs }) => {
        const { made, secret, write } = await prepareVisitorKey(services, principal.account.id, body, nowMs);
        return { response: toWireVisitorKey(made), ...(secret === null ? {} : { secret: { secret } }), write };
      }),
  }),
  route({
    id: "revokeVisitorKey",
    method: "DELETE",
    path: "/api/visitor-keys/{id}",
    tag: "Visitor keys",
    summary: "Revoke a visitor key",
    access: "keys:write",
    document: () => ({
      responses: { 204: { description: "Revoked: tokens signed with it are refused from now on." } },
    }),
    handle: ({ services, principal, params, writeContext }) =>
      revokeVisitorKey(services, principal.account.id, params.id, writeContext()),
  }),
];

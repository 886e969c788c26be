/** `/api/keys`: the account's API keys. */
import { jsonResponse } from "../../http/api-description.ts";
import { uncheckedBody } from "../../http/json-body.ts";
import { cutPage, listOf, pageQuery, toWireList } from "../../http/paging.ts";
import { type Route, route } from "../../http/route.ts";
import { newKeyBody } from "./model.ts";
import { KeyObject, NewKeyObject, toWireKey } from "./responses.ts";
import { prepareKey, revokeKey } from "./service.ts";

export const keyRoutes: readonly Route[] = [
  route({
    id: "listKeys",
    method: "GET",
    path: "/api/keys",
    tag: "API keys",
    summary: "List API keys",
    access: "keys:read",
    query: { page: pageQuery },
    document: () => ({
      description: "Revoked ones are not listed.",
      responses: {
        200: jsonResponse("A page of keys.", listOf(KeyObject, "ApiKeyList")),
      },
    }),
    async handle({ services, principal, query }) {
      const keys = await services.store.apiKeys.list(principal.account.id);
      return toWireList(cutPage(keys, query.page), toWireKey);
    },
  }),
  route({
    id: "createKey",
    method: "POST",
    path: "/api/keys",
    tag: "API keys",
    summary: "Create an API key",
    access: "keys:write",
    body: uncheckedBody(newKeyBody),
    isIdempotent: true,
    document: () => ({
      description:
        "A key cannot grant a scope that it lacks, nor more time than it has itself. With `replaces` it is a rotation: in " +
        "one step the new key is created and the old one gets its end. With a key that is revoked or expires, all keys " +
        "that it created end too, and those that they created. A key that replaces itself ends so as well, but for the new " +
        "key, which goes on; who revokes the old one before its end revokes the new one with it.",
      responses: {
        201: jsonResponse("The key: the only time that it is shown in full.", NewKeyObject),
      },
    }),
    handle: ({ services, principal, createOnce }) =>
      createOnce((body, { nowMs }) => {
        const { made, key, write } = prepareKey(services, principal, body, nowMs);
        return { response: toWireKey(made), secret: { key }, write };
      }),
  }),
  route({
    id: "revokeKey",
    method: "DELETE",
    path: "/api/keys/{id}",
    tag: "API keys",
    summary: "Revoke an API key, and all that it created",
    access: "keys:write",
    document: () => ({
      description:
        "The keys that it created, and those that they created, are revoked at the same moment. A key by which it has " +
        "replaced itself is revoked too, unless that key asks for it, or the old one has expired already.",
      responses: { 204: { description: "Revoked, with all keys that descend from it: refused from now on." } },
    }),
    handle: ({ services, principal, params, writeContext }) =>
      revokeKey(services, principal, params.id, writeContext()),
  }),
];

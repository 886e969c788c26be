/** The API keys' routes, for the API document. */
import { type ApiOperation, idParam, pageQuery } from "../../http/api-description.ts";
import { listOf } from "../../schemas/list.ts";
import { newKeyBody } from "./model.ts";
import { KeyObject, NewKeyObject } from "./responses.ts";

export const keysApi: ApiOperation[] = [
  {
    id: "listKeys",
    method: "GET",
    path: "/api/keys",
    tag: "API keys",
    summary: "List API keys",
    description: "Revoked ones are not listed.",
    access: "keys:read",
    query: pageQuery,
    answers: {
      200: { description: "A page of keys.", content: { "application/json": listOf(KeyObject, "ApiKeyList") } },
    },
  },
  {
    id: "createKey",
    method: "POST",
    path: "/api/keys",
    tag: "API keys",
    summary: "Create an API key",
    description:
      "A key cannot give a scope that it lacks, nor more time than it has itself. With `replaces` it is a rotation: in " +
      "one step the new key is made and the old one given its end. A key that is revoked or ends takes all keys that it " +
      "made with it, and those that they made.",
    access: "keys:write",
    body: { schema: newKeyBody.schema },
    isIdempotent: true,
    answers: {
      201: {
        description: "The key: the only time that it is shown in full.",
        content: { "application/json": NewKeyObject },
      },
    },
  },
  {
    id: "revokeKey",
    method: "DELETE",
    path: "/api/keys/{id}",
    tag: "API keys",
    summary: "Revoke an API key, and all that it made",
    description: "The keys that it made, and those that they made, are revoked in the same moment.",
    access: "keys:write",
    params: { id: idParam("key") },
    answers: { 204: { description: "Revoked, with all that came of it: refused from now on." } },
  },
];

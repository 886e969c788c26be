/** Response headers in the API document. */

import { maxChangeNoteLength } from "../../domain/version.ts";
import type { Access, RequestHeader } from "../../http/api-description.ts";
import type { JsonSchema } from "./schema-text.ts";

const text = (description: string, example: string): JsonSchema => ({
  description,
  schema: { type: "string" },
  example,
});

/** By component name, which is the header's name. */
export const sharedHeaders: Record<string, JsonSchema> = {
  "X-Request-Id": text("Names this request in the log.", "0192f3c1-7d2e-7a44-9a10-3f5b8c6d2e10"),
  "RateLimit-Policy": text("The limits that apply: requests `q` in `w` seconds.", '"ip";q=10;w=60, "token";q=30;w=60'),
  RateLimit: text("What is left: `r` requests, the next one free in `t` seconds.", '"ip";r=9;t=52, "token";r=29;t=60'),
  "Retry-After": { description: "Whole seconds to wait.", schema: { type: "integer", minimum: 1 }, example: 7 },
  "WWW-Authenticate": text("How to authenticate.", "Bearer"),
  "X-Session-Id": {
    description: "The conversation's `session_id`: the one sent, or the one created for a new conversation.",
    schema: { type: "string", format: "uuid" },
    example: "7b1f5f0e-6c1e-4a55-8d0c-0d7f3d1b9a10",
  },
  "Idempotent-Replayed": text("`true` if the response is that of an earlier call with this Idempotency-Key.", "true"),
  "Set-Cookie": text(
    "The session's cookie: HttpOnly, SameSite=Lax.",
    "companiond_session=…; Path=/; HttpOnly; SameSite=Lax",
  ),
  "Content-Disposition": text("A name for the file.", 'attachment; filename="usage-2026-01-01-2026-01-30.csv"'),
  Link: text(
    "Where the next page is, if there is one and `limit` or `cursor` was sent.",
    '<?limit=100&cursor=…>; rel="next"',
  ),
  ETag: text("The version: for `If-Match` and `If-None-Match`, where these are accepted.", '"2k8vq0x1c7hb3"'),
  "Cache-Control": text("How long it may be cached, and by whom.", "private, max-age=60"),
  "Access-Control-Allow-Origin": text("Which origin may read it.", "*"),
};

/** Of requests to embed routes. */
export const visitorTokenHeader: JsonSchema = {
  type: "string",
  maxLength: 4096,
  examples: ["eyJhbGciOiJIUzI1NiJ9.…"],
  description:
    "A JSON Web Token of the website that identifies the visitor, signed with one of the account's visitor keys. Ignored " +
    "unless the companion's `visitor_auth` is `optional` or `required`.",
};

/** Of conditional requests, and of changes. */
export const requestHeaders: Record<RequestHeader, JsonSchema> = {
  "If-Match": {
    type: "string",
    examples: ['"kq8VQe3cG0Wb1xS5pQnE7w"'],
    description:
      "The `ETag` of the version that is to be changed, or several: with any other it is 412, and nothing changes.",
  },
  "If-None-Match": {
    type: "string",
    examples: ['"kq8VQe3cG0Wb1xS5pQnE7w"'],
    description: "The `ETag` of the version that the client has: while it is the current one, the answer is 304.",
  },
  "X-Change-Note": {
    type: "string",
    maxLength: 6000,
    examples: ["Opening%20hours%20of%20the%20new%20shop"],
    description: `Why, for the companion's versions: at most ${maxChangeNoteLength} characters, percent-encoded UTF-8.`,
  },
};

/** Of requests that begin something that costs money. */
export const challengeHeader: JsonSchema = {
  type: "string",
  maxLength: 1024,
  examples: ["eyJhbGdvcml0aG0iOiJTSEEtMjU2Iiwi…"],
  description:
    "The solution of the challenge in an earlier `challenge_required`, as base64 of JSON. Ignored where the companion asks " +
    "for none.",
};

/** References to a response's headers: its own, and those added by its kind of access. */
export function listHeaders(access: Access, own: readonly string[]): Record<string, JsonSchema> {
  const names = ["X-Request-Id", ...(access !== "public" ? ["RateLimit-Policy", "RateLimit"] : []), ...own];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

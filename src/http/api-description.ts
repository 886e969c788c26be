/** How a route is described for the API document, beside the models that validate it. */
import { type TSchema, Type as t } from "@sinclair/typebox";
import type { Scope } from "../domain/account.ts";
import { type ErrorCode, errorCodes } from "../domain/errors.ts";
import { later } from "../lib/later.ts";

/**
 * Who may call: anyone, whoever holds the embed token of the path, an API key with the scope (or the dashboard), the
 * dashboard alone, or the dashboard of an operator. Decides the security and the failures that the guards add.
 */
export type Access = "public" | "embed" | "session" | "operator" | Scope;

export type ApiHeader =
  | "X-Session-Id"
  | "Idempotent-Replayed"
  | "Set-Cookie"
  | "Content-Disposition"
  | "ETag"
  | "Cache-Control"
  | "Access-Control-Allow-Origin";

export interface ApiResponse {
  description: string;
  /** By media type; null where the body is text of no further shape. Left out: no body. */
  content?: Readonly<Record<string, TSchema | null>>;
  /** Beyond those that every answer carries. */
  headers?: readonly ApiHeader[];
}

export interface ApiOperation {
  /** Unique; names the call in generated clients. */
  id: string;
  method: "GET" | "POST" | "PATCH" | "DELETE";
  /** With parameters in braces: `/api/companions/{id}`. */
  path: string;
  tag: ApiTag;
  summary: string;
  description?: string;
  access: Access;
  /** Path parameters by name; every one of the path must be here. */
  params?: Readonly<Record<string, TSchema>>;
  query?: Readonly<Record<string, TSchema>>;
  /** Takes `metadata.<path>=<value>` too. */
  takesMetadata?: true;
  /** `example` where the examples of the fields do not go together. */
  body?: { schema: TSchema; isOptional?: true; example?: object };
  /** Takes `Idempotency-Key`. */
  isIdempotent?: true;
  answers: Readonly<Record<number, ApiResponse>>;
  /** Beyond those that access, parameters and body bring along. */
  errors?: readonly ErrorCode[];
}

export const apiTags = {
  Embed: "For visitors' browsers: opened by a companion's embed token in the path.",
  Companions: "What visitors talk to, and the tokens that open it.",
  Conversations: "What was said, and its erasure.",
  Usage: "What was used, for audit and billing.",
  "API keys": "Keys for servers: never in client-side code.",
  Audit: "Who changed what.",
  Session: "Signing in to the dashboard. Platforms do not need it.",
  Accounts: "For operators, in the dashboard.",
  Service: "For operators, monitoring and browsers.",
} as const;
export type ApiTag = keyof typeof apiTags;

/** The part of a route's description that schemas belong to, or long sentences: made when the API document is asked for. */
export interface RouteDocument<ParamName extends string = string> {
  description?: string;
  /** Every parameter of the path. */
  params?: Readonly<Record<ParamName, TSchema>>;
  /** An example of the body, where those of its fields do not go together. */
  bodyExample?: object;
  /** Of parameters that the handler reads by itself. */
  query?: Readonly<Record<string, TSchema>>;
  /** Successes, by status. */
  responses: Readonly<Record<number, ApiResponse>>;
  /** Beyond those that access, parameters and body bring along. */
  errors?: readonly ErrorCode[];
}

export function jsonResponse(description: string, schema: TSchema, ...headers: ApiHeader[]): ApiResponse {
  return { description, content: { "application/json": schema }, ...(headers.length > 0 ? { headers } : {}) };
}

export const idParam = (noun: string) =>
  t.String({ description: `The ${noun}'s id.`, examples: ["0192f3c1-7d2e-7a44-9a10-3f5b8c6d2e10"] });

export const embedTokenParam = later(() =>
  t.String({
    pattern: "^emb_[0-9A-Za-z]{32}$",
    description: "An embed token of the companion. Safe in client-side code, revocable.",
    examples: ["emb_4fQ0ZrT8mWc2LxV7bN1yKpE6sHdJ9uGa"],
  }),
);

export const eventStream: ApiResponse = {
  description:
    'The reply as Server-Sent Events: `data: {"text":"…"}` for each fragment, then `data: [DONE]`. Lines that do not ' +
    "start with `data: ` are comments (`: ping`, `: error upstream_error`). A stream that ends without `[DONE]` broke off; " +
    "its last comment says why: `upstream_error` (the model), `too_long` (the reply), `unavailable` (the server, or the companion is not available any more).",
  content: { "text/event-stream": null },
};

export const ProblemObject = later(() =>
  t.Object(
    {
      type: t.String({ format: "uri", description: "Where the error is explained." }),
      title: t.String(),
      status: t.Integer(),
      detail: t.String({ description: "What happened and what to do, for people." }),
      code: t.Union(
        Object.keys(errorCodes).map((code) => t.Literal(code)),
        { description: "What happened, for programs." },
      ),
      request_id: t.String({ description: "The `X-Request-Id`; name it when reporting." }),
      errors: t.Optional(
        t.Array(
          t.Object({
            param: t.String({ description: "The field, parameter or header at fault." }),
            detail: t.String(),
          }),
          { description: "On `invalid_request`: every field at fault." },
        ),
      ),
    },
    { $id: "Problem", description: "RFC 9457 problem details." },
  ),
);

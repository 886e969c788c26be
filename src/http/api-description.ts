/** The description of a route for the API document, beside the models that validate it. */
import { type TSchema, Type as t } from "@sinclair/typebox";
import type { Scope } from "../domain/account.ts";
import type { ErrorCode } from "../domain/errors.ts";
import { later } from "../lib/later.ts";
import { ChatState } from "./named-events.ts";
import { linesOf, linesType } from "./schemas/lines.ts";

/**
 * Who may call: anyone, holders of the embed token in the path, of these only verified visitors, an API key with the
 * scope (or the dashboard), any API key (or the dashboard), the dashboard only, only its owners (not its responders), or
 * an operator's dashboard only. Chats (`chat:write`) are for API keys alone. Determines the security scheme and the errors
 * of the guards.
 */
export type Access = "public" | EmbedAccess | "principal" | DashboardAccess | Scope;
export type DashboardAccess = "session" | "owner" | "operator";
export type EmbedAccess = "embed" | "visitor";

export function isEmbedAccess(access: Access): access is EmbedAccess {
  return access === "embed" || access === "visitor";
}

export type ApiHeader =
  | "X-Session-Id"
  | "Idempotent-Replayed"
  | "Set-Cookie"
  | "Content-Disposition"
  | "Link"
  | "ETag"
  | "Cache-Control"
  | "Access-Control-Allow-Origin";

/** Of a conditional request, or of a change that makes a version of a companion. */
export type RequestHeader = "If-Match" | "If-None-Match" | "X-Change-Note";

export interface ApiResponse {
  description: string;
  /** By media type; null for plain text without a schema. Undefined: no body. */
  content?: Readonly<Record<string, TSchema | null>>;
  /** In addition to those of every response. */
  headers?: readonly ApiHeader[];
}

export const apiTags = {
  Embed: "For visitors' browsers: opened by a companion's embed token in the path.",
  "Embed and people": "For visitors' browsers: people who step in, and what visitors leave for them and rate.",
  Companions: "What visitors talk to, and the tokens that open it.",
  Versions: "What companions were, and what drafts make of them.",
  "Relayed chat": "For platforms whose servers stand between visitors and companiond.",
  "Relayed people": "The same for platforms whose servers stand between.",
  OpenAI: "For clients that speak OpenAI's chat completions: a companion is a model.",
  Knowledge: "What companions read: texts, files, pages and sitemaps, and what is found there.",
  "Unanswered questions": "What visitors asked and knowledge had no answer to.",
  Tools: "What companions' models may call: URLs of yours, and MCP servers.",
  Conversations: "What was said, and its erasure.",
  People: "Who of the team steps into conversations: they take, write, release, and say when they are there.",
  Usage: "What was used, for audit and billing.",
  "API keys": "Keys for servers: never in client-side code.",
  Budgets: "How much calls may cost, by account, key, companion or metadata.",
  "Visitor keys":
    "Keys with which websites sign tokens for their visitors: on their servers, never in client-side code.",
  Webhooks: "The servers of an account that receive its events, and the deliveries to them.",
  Members: "The people who work with an account's companions, beside its own sign-in.",
  Audit: "Who changed what.",
  Session: "Signing in to the dashboard. Platforms do not need it.",
  Accounts: "For operators, in the dashboard.",
  Service: "For operators, monitoring and browsers.",
} as const;
export type ApiTag = keyof typeof apiTags;

/** The part of a route's description with schemas or long texts: created when the API document is requested. */
export interface RouteDocument<ParamName extends string = string> {
  description?: string;
  /** Path parameters. Left out: the embed token, and ids of what the segment before them names (`/budgets/{id}`). */
  params?: Readonly<Partial<Record<ParamName, TSchema>>>;
  /** An example of the body, if those of its fields do not fit together. */
  bodyExample?: object;
  /** For parameters that the handler reads itself. */
  query?: Readonly<Record<string, TSchema>>;
  /** Headers of the request that the handler reads itself. */
  headers?: readonly RequestHeader[];
  /** What the server sends from then on to the URL in the body's `url`. */
  sends?: { name: string; summary: string; description: string; body: TSchema };
  /** Successful responses, by status. */
  responses: Readonly<Record<number, ApiResponse>>;
  /** In addition to those implied by access, parameters and body. */
  errors?: readonly ErrorCode[];
}

export function jsonResponse(description: string, schema: TSchema, ...headers: ApiHeader[]): ApiResponse {
  return { description, content: { "application/json": schema }, ...(headers.length > 0 ? { headers } : {}) };
}

/** One object a line. */
export function linesResponse(description: string, schema: TSchema): ApiResponse {
  return { description, content: { [linesType]: linesOf(schema) } };
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

/**
 * The data of a stream's events. A 3.1 document cannot describe a single event: the media type refers to it. The end is
 * any string, although it is always the same: generated clients that read the whole stream as one text take it for one,
 * and would fail where it had to be `[DONE]`.
 */
const ChatEvent = later(() =>
  t.Union(
    [
      t.Object(
        {
          text: t.String({ description: "The next piece of the reply, never empty.", examples: ["Hello"] }),
        },
        { $id: "ChatText" },
      ),
      t.Object(
        {
          sources: t.Array(
            t.Object({
              n: t.Integer({ minimum: 1, description: "Its number in the reply's markers." }),
              title: t.String(),
              url: t.Union([t.String(), t.Null()]),
              page: t.Union([t.Integer({ minimum: 1 }), t.Null()], { description: "Of a PDF." }),
            }),
          ),
        },
        {
          $id: "ChatSources",
          description:
            "Of `event: sources`, for who sent `events: true`: once, before the end of a complete reply from knowledge. What " +
            "the reply cites; with `citations: none`, all that the model was given.",
        },
      ),
      ChatState,
      t.String({
        $id: "ChatEnd",
        examples: ["[DONE]"],
        description: "`[DONE]`: the last event of a reply that is complete and kept.",
      }),
    ],
    { $id: "ChatEvent", description: "The `data` of one event of the stream." },
  ),
);

export const eventStream: ApiResponse = {
  description:
    'The reply as Server-Sent Events: `data: {"text":"…"}` for each fragment, then `data: [DONE]`. With `events: true`, one ' +
    "`event: sources` may come before the end, for a companion with `handoff` also `event: offer` with an empty object, where " +
    "nothing was found and the visitor may ask for a person, and `event: state`. Lines that do not " +
    "start with `data: ` are comments (`: ping`, `: error upstream_error`). A stream that ends without `[DONE]` broke off; " +
    "its last comment has the reason: `upstream_error` (the model), `too_long` (the reply), `cancelled` (by the client), `abandoned` " +
    "(no one read it for two minutes), `taken` (a person has the conversation now), `unavailable` (the server or the companion is not, or not any more: come back once, " +
    "where the message has a `message_id`).",
  get content() {
    return { "text/event-stream": ChatEvent };
  },
};

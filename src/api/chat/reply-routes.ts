/** `/api/embed/{token}/chat/{message_id}`: for clients that come back to a reply, or stop it. */
import { Type as t } from "@sinclair/typebox";
import type { ReplyCall } from "../../core/instances/instances.ts";
import type { VerifiedVisitor } from "../../core/visitors/visitors.ts";
import type { Companion } from "../../domain/companion.ts";
import { invalidFields } from "../../domain/errors.ts";
import { toldSources } from "../../domain/knowledge.ts";
import { eventStream } from "../../http/api-description.ts";
import { RightOfToken } from "../../http/embed-guard.ts";
import { type Route, route } from "../../http/route.ts";
import { Text, uuidPattern } from "../../http/schemas/schema.ts";
import { addHeaders } from "../../http/stream-response.ts";
import { toUuid } from "../../lib/ids.ts";
import { cancelReply, followReply, noSuchReply } from "./reply-responses.ts";

const path = "/api/embed/{token}/chat/{message_id}";

export const describeMessage = () =>
  Text({
    pattern: uuidPattern,
    description: "The client's name for the message, as sent with it.",
    examples: ["5f0c2c1e-9d43-4d0a-8f6b-2f7f1f9d3a70"],
  });

const describeParams = () => ({ message_id: describeMessage() });

export const describeConversation = () => ({
  session_id: Text({ pattern: uuidPattern, description: "The conversation's id, as sent with the message." }),
  visitor_id: Text({
    pattern: uuidPattern,
    description: "The visitor's id, if one was sent with the message. Ignored for verified visitors.",
  }),
});

export const describeOffset = () =>
  t.Integer({
    minimum: 0,
    default: 0,
    description: "How much of the reply's text the client has, in UTF-16 code units. `Last-Event-ID` wins over it.",
  });

export const describeEvents = () =>
  t.Boolean({ default: false, description: "Whether the stream carries named events, as on the message itself." });

interface Input {
  readonly request: Request;
  readonly params: { readonly messageId: string };
  readonly companion: Pick<Companion, "id" | "citations" | "toolCount">;
  /** Null unless verified. */
  readonly visitor: Pick<VerifiedVisitor, "id"> | null;
}

/** Throws `not_found` for ids that cannot be any reply's. */
export function readCall(action: "follow" | "cancel", { request, params, companion, visitor }: Input): ReplyCall {
  const { searchParams } = new URL(request.url);
  const messageId = toUuid(params.messageId);
  const sessionId = toUuid(searchParams.get("session_id") ?? "");
  const sent = searchParams.get("visitor_id") || null;
  const visitorId = visitor !== null ? visitor.id : sent === null ? null : toUuid(sent);
  if (messageId === undefined || sessionId === undefined || visitorId === undefined) throw noSuchReply();
  const key = { companionId: companion.id, sessionId, visitorId };
  const call = { action, key, messageId, message: null, resume: false } as const;
  if (action === "cancel") return { ...call, offset: 0, sources: null, hasTools: false };
  const sources = readEvents(searchParams) ? toldSources(companion) : null;
  return { ...call, offset: readOffset(request, searchParams), sources, hasTools: companion.toolCount > 0 };
}

function readEvents(searchParams: URLSearchParams): boolean {
  const sent = searchParams.get("events") || "false";
  if (sent !== "true" && sent !== "false") throw invalidFields([{ param: "events", detail: "Must be true or false." }]);
  return sent === "true";
}

function readOffset({ headers }: Request, searchParams: URLSearchParams): number {
  // Empty until there was an event: then it says nothing.
  const lastEventId = headers.get("last-event-id") || null;
  if (lastEventId !== null) return toOffset(lastEventId) ?? fail("Last-Event-ID");
  return toOffset(searchParams.get("offset") ?? "0") ?? fail("offset");
}

function toOffset(text: string): number | null {
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
}

function fail(param: string): never {
  throw invalidFields([{ param, detail: "Must be a whole number: the UTF-16 code units received so far." }]);
}

export const replyRoutes: readonly Route[] = [
  route({
    id: "followReply",
    method: "GET",
    path,
    tag: "Embed",
    summary: "Go on with a reply whose stream was lost",
    access: "embed",
    document: () => ({
      description:
        "Streams what is left of the reply to a message that was sent with a `message_id`; the response begins immediately. " +
        "Each event has an `id`: the offset after it, to come back with. Possible while the reply runs, and for ten " +
        "minutes after its end. A reply that was sent with `resume` goes on for two minutes without a reader.",
      params: describeParams(),
      query: {
        ...describeConversation(),
        offset: describeOffset(),
        events: describeEvents(),
      },
      responses: { 200: eventStream, 204: { description: "The reply is complete, and the client has all of it." } },
      errors: ["invalid_request", "not_found"],
    }),
    async handle({ services, request, params, set, target, visitor }) {
      const call = readCall("follow", { request, params, companion: target.companion, visitor });
      const right = new RightOfToken(services.store.companions, params.token);
      return addHeaders(await followReply(services, call, request, right), set);
    },
  }),
  route({
    id: "cancelReply",
    method: "DELETE",
    path,
    tag: "Embed",
    summary: "Stop a reply for everyone who reads it",
    access: "embed",
    document: () => ({
      description:
        "What has arrived is kept, marked incomplete, and streams of it end with `: error cancelled`. A message that " +
        "waits for its turn is dropped. A reply that has ended stays as it is.",
      params: describeParams(),
      query: describeConversation(),
      responses: { 204: { description: "It runs no more." } },
      errors: ["not_found"],
    }),
    async handle({ services, request, params, set, target, visitor }) {
      const call = readCall("cancel", { request, params, companion: target.companion, visitor });
      return addHeaders(await cancelReply(services, call, request), set);
    },
  }),
];

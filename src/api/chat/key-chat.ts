/** `/api/companions/{id}/chat`: the public chat for platforms that relay it from their own servers. */
import type { Services } from "../../core/dependencies.ts";
import type { VerifiedVisitor } from "../../core/visitors/visitors.ts";
import type { Principal } from "../../domain/account.ts";
import type { Companion } from "../../domain/companion.ts";
import { invalidFields, missing, readId } from "../../domain/errors.ts";
import { toExplainedError } from "../../domain/reply-failure.ts";
import { eventStream } from "../../http/api-description.ts";
import { rightOfKey } from "../../http/caller-right.ts";
import { requireJsonContentType } from "../../http/json-body.ts";
import type { ResponseHead } from "../../http/json-response.ts";
import { textQuery } from "../../http/query.ts";
import { type Route, route } from "../../http/route.ts";
import { Text } from "../../http/schemas/schema.ts";
import { toClaims } from "../../http/schemas/visitor.ts";
import { addHeaders } from "../../http/stream-response.ts";
import { admitVisitor } from "../../http/visitor-window.ts";
import { describeCall, readCallId, streamDecision } from "./confirmation-routes.ts";
import { nameSession, streamReply } from "./index.ts";
import { decisionBodies, relayedChat, type Sent } from "./model.ts";
import { cancelReply, followReply, noSuchReply } from "./reply-responses.ts";
import { describeConversation, describeEvents, describeMessage, describeOffset, readCall } from "./reply-routes.ts";

const path = "/api/companions/{id}/chat/{message_id}";

/** Throws `not_found`, also for a companion that is switched off. */
export async function getAnswering({ store }: Services, { account }: Principal, id: string): Promise<Companion> {
  const companion = await store.companions.find(account.id, readId(id, "companion"));
  if (companion?.enabled !== true) throw missing("companion");
  return companion;
}

/** Throws `invalid_request` if the companion asks who its visitors are, and the platform does not say it. */
export async function openVisitor(
  { visitors }: Services,
  { accountId, visitorAuth }: Companion,
  body: Pick<Sent<typeof relayedChat>, "visitor">,
): Promise<VerifiedVisitor | null> {
  const claims = toClaims(body);
  if (claims !== null) return await visitors.vouch(accountId, claims);
  if (visitorAuth !== "required") return null;
  const detail = "This companion answers only visitors who are known: identify the visitor.";
  throw invalidFields([{ param: "visitor", detail }]);
}

/** Throws `rate_limited`. */
export function admitSender(
  services: Services,
  { id }: Companion,
  visitor: VerifiedVisitor | null,
  body: Pick<Sent<typeof relayedChat>, "visitor" | "visitor_id">,
  { headers }: ResponseHead,
): Promise<void> {
  if (visitor !== null) return admitVisitor(services, id, "sub", body.visitor?.sub, headers);
  return admitVisitor(services, id, "visitor_id", body.visitor_id?.toLowerCase(), headers);
}

const describeParams = () => ({ message_id: describeMessage() });

export const conversationQuery = {
  sessionId: textQuery("session_id", () => describeConversation().session_id),
  visitorId: textQuery("visitor_id", () => describeConversation().visitor_id),
  visitorSub: textQuery("visitor_sub", () =>
    Text({
      description: "The `sub` of the `visitor` that was sent with the message; `visitor_id` is ignored then.",
      examples: ["user-42"],
    }),
  ),
};

/** Of the conversation in the query. Throws `not_found` for a visitor for whom no one ever vouched. */
export async function findVisitor(
  { visitors }: Services,
  { accountId }: Companion,
  sub: string | null,
): Promise<{ readonly id: string } | null> {
  if (sub === null) return null;
  const id = await visitors.findId(accountId, sub);
  if (id === null) throw noSuchReply();
  return { id };
}

export const keyChatRoutes: readonly Route[] = [
  route({
    id: "relayChat",
    method: "POST",
    path: "/api/companions/{id}/chat",
    tag: "Relayed chat",
    summary: "Relay a visitor's message and stream the reply",
    access: "chat:write",
    body: relayedChat,
    document: () => ({
      description:
        "The public chat for platforms whose servers stand between: the same body and the same stream, kept and counted " +
        "in the day's quota. Usage counts under the calling key. There is no check of the origin, no limit by address " +
        "and no proof of work: the key's own window holds, and a window for each `visitor.sub` or `visitor_id`.\n\n" +
        "Where the companion's `visitor_auth` is `required`, `visitor` is required. A companion that is switched off is 404. " +
        "If the key is revoked or ends, its streams end within a second. Where the provider fails before its first text, the " +
        "502 has the reason in `kind`, and in its sentence what to change.",
      bodyExample: {
        message: "What are your opening hours?",
        session_id: "7b1f5f0e-6c1e-4a55-8d0c-0d7f3d1b9a10",
        visitor: { sub: "user-42", name: "Grace", attributes: { plan: "pro" } },
      },
      responses: { 200: { ...eventStream, headers: ["X-Session-Id"] } },
      errors: ["conflict", "quota_exceeded", "budget_exceeded", "upstream_error"],
    }),
    async handle({ services, principal, request, params, set, readBody }) {
      const companion = await getAnswering(services, principal, params.id);
      // Even without a body.
      requireJsonContentType(request);
      const body = await readBody();
      const visitor = await openVisitor(services, companion, body);
      const sessionId = nameSession(services.ids, body, set);
      await admitSender(services, companion, visitor, body, set);
      const sending = {
        ...{ request, set, companion, visitor, sessionId, work: null },
        plan: principal.account.plan,
        keyId: principal.keyId,
        address: null,
        right: rightOfKey(services, principal, companion.id),
      };
      return await streamReply(services, sending, body).catch((error: unknown) => {
        throw toExplainedError(error);
      });
    },
  }),
  route({
    id: "followRelayedReply",
    method: "GET",
    path,
    tag: "Relayed chat",
    summary: "Go on with a reply whose stream was lost, for a platform",
    access: "chat:write",
    query: {
      ...conversationQuery,
      offset: textQuery("offset", describeOffset),
      events: textQuery("events", describeEvents),
    },
    document: () => ({
      description:
        "As on the public chat: streams what is left of the reply, with an `id` on each event. Any key of the account may " +
        "follow it, and also a reply that a visitor began through an embed token.",
      params: describeParams(),
      responses: { 200: eventStream, 204: { description: "The reply is complete, and the client has all of it." } },
    }),
    async handle({ services, principal, request, params, set, query }) {
      const companion = await getAnswering(services, principal, params.id);
      const visitor = await findVisitor(services, companion, query.visitorSub);
      const call = readCall("follow", { request, params, companion, visitor });
      const right = rightOfKey(services, principal, companion.id);
      return addHeaders(await followReply(services, call, request, right), set);
    },
  }),
  route({
    id: "cancelRelayedReply",
    method: "DELETE",
    path,
    tag: "Relayed chat",
    summary: "Stop a reply for everyone who reads it, for a platform",
    access: "chat:write",
    query: conversationQuery,
    document: () => ({
      description: "As on the public chat: what has arrived is kept, marked incomplete.",
      params: describeParams(),
      responses: { 204: { description: "It runs no more." } },
    }),
    async handle({ services, principal, request, params, set, query }) {
      const companion = await getAnswering(services, principal, params.id);
      const visitor = await findVisitor(services, companion, query.visitorSub);
      const call = readCall("cancel", { request, params, companion, visitor });
      return addHeaders(await cancelReply(services, call, request), set);
    },
  }),
  route({
    id: "confirmRelayedCall",
    method: "POST",
    path: "/api/companions/{id}/confirmations/{call_id}",
    tag: "Relayed chat",
    summary: "Pass on a visitor's decision on a call",
    access: "chat:write",
    body: decisionBodies.relayed,
    document: () => ({
      description: "As on the public chat, with the `visitor` that was sent with the message.",
      params: { call_id: describeCall() },
      bodyExample: { approve: true, session_id: "7b1f5f0e-6c1e-4a55-8d0c-0d7f3d1b9a10" },
      responses: { 200: eventStream },
      errors: ["conflict", "not_found", "budget_exceeded", "upstream_error"],
    }),
    async handle({ services, principal, request, params, set, readBody }) {
      const companion = await getAnswering(services, principal, params.id);
      const callId = readCallId(params.callId);
      requireJsonContentType(request);
      const body = await readBody();
      const visitor = await openVisitor(services, companion, body);
      await admitSender(services, companion, visitor, body, set);
      const deciding = {
        ...{ request, set, companion, visitor },
        plan: principal.account.plan,
        keyId: principal.keyId,
        address: null,
        right: rightOfKey(services, principal, companion.id),
      };
      return await streamDecision(services, deciding, callId, body).catch((error: unknown) => {
        throw toExplainedError(error);
      });
    },
  }),
];

/** `…/live`: a visitor follows their conversation while people have it, and reports what they type and see. */
import { type TSchema, Type as t } from "@sinclair/typebox";
import type { Services } from "../../core/dependencies.ts";
import type { Principal } from "../../domain/account.ts";
import type { Companion } from "../../domain/companion.ts";
import type { ConversationKey } from "../../domain/conversation.ts";
import { type ApiResponse, embedTokenParam } from "../../http/api-description.ts";
import { rightOfKey } from "../../http/caller-right.ts";
import { clientOf } from "../../http/client.ts";
import { requireJsonContentType } from "../../http/json-body.ts";
import { textQuery } from "../../http/query.ts";
import { type Route, route } from "../../http/route.ts";
import { LiveEventData, LivePageObject } from "../../http/schemas/live.ts";
import { conversationQuery, findVisitor, getAnswering, openVisitor } from "./key-chat.ts";
import { answerListener, noConversation, readKey, requirePeople } from "./live.ts";
import { liveBodies, type Sent } from "./model.ts";
import { describeConversation } from "./reply-routes.ts";

const path = "/api/embed/{token}/live";
const relayedPath = "/api/companions/{id}/live";

const describeAfter = () =>
  t.Integer({
    minimum: 0,
    default: 0,
    description: "The `seq` of the last message received. `Last-Event-ID` wins over it.",
  });

const describeWait = () =>
  t.Integer({
    minimum: 0,
    maximum: 25,
    default: 0,
    description: "With JSON: how many seconds to wait for something new.",
  });

const listened: Readonly<Record<number, ApiResponse>> = {
  200: {
    description:
      "Server-Sent Events: at first `event: state`, then `event: message` with its `seq` as `id` for each message beyond " +
      "`after`, then what comes, and `event: typing`. `: ping` every 10 s. The last comment has the reason of an end: " +
      "`: again` (come back), `: error unavailable`, `: error visitor_unverified` (with a new token), `: error replaced` " +
      "(by newer streams of the conversation); without one, the companion answers again. With `Accept: " +
      "application/json` one object.",
    get content(): Record<string, TSchema> {
      return { "text/event-stream": LiveEventData, "application/json": LivePageObject };
    },
  },
  204: { description: "The companion answers, and the client has all there is." },
};

const listenDescription =
  "For conversations that people have, or may take. It reaches back to where the state last left `companion`, for 24 hours " +
  "after it returned; verified visitors are shown everything. A message is sent once to each stream, in the order of " +
  "`seq`, and none is skipped: come back with the last `id`. With `Accept: application/json` the answer is always 200, " +
  "immediately or when there is something within `wait` seconds.";

const reported = { 204: { description: "Noted." } };

export const liveRoutes: readonly Route[] = [
  route({
    id: "listen",
    method: "GET",
    path,
    tag: "Embed and people",
    summary: "Follow a conversation that people have",
    access: "embed",
    isLive: true,
    document: () => ({
      description: listenDescription,
      params: { token: embedTokenParam },
      query: { ...describeConversation(), after: describeAfter(), wait: describeWait() },
      responses: listened,
      errors: ["invalid_request", "not_found", "conflict", "unavailable"],
    }),
    async handle({ services, request, params, set, target: { companion }, visitor }) {
      const { token } = params;
      const { companions } = services.store;
      return await answerListener(services, {
        ...{ request, set, companion, isVerified: visitor !== null },
        key: readKey(new URL(request.url), companion.id, visitor?.id ?? null),
        address: clientOf(services, request).limitSubject,
        right: {
          name: `token ${token}`,
          check: async () => (await companions.checkEmbedToken(token)) !== null,
          tokenEndsAtMs: visitor?.tokenEndsAtMs ?? null,
        },
      });
    },
  }),
  route({
    id: "reportLive",
    method: "POST",
    path,
    tag: "Embed and people",
    summary: "Report what the visitor types and sees",
    access: "embed",
    isLive: true,
    body: liveBodies.own,
    document: () => ({
      params: { token: embedTokenParam },
      responses: reported,
      errors: ["not_found", "conflict"],
    }),
    async handle({ services, request, target: { companion }, visitor, readBody }) {
      requireJsonContentType(request);
      await report(services, companion, visitor?.id ?? null, await readBody());
    },
  }),
];

export const keyLiveRoutes: readonly Route[] = [
  route({
    id: "listenForVisitor",
    method: "GET",
    path: relayedPath,
    tag: "Relayed people",
    summary: "Follow a visitor's conversation that people have, for a platform",
    access: "chat:write",
    query: { ...conversationQuery, after: textQuery("after", describeAfter), wait: textQuery("wait", describeWait) },
    document: () => ({
      description: `As on the public route, without limits by address. ${listenDescription}`,
      responses: listened,
      errors: ["conflict", "unavailable"],
    }),
    async handle({ services, principal, request, params, set, query }) {
      const companion = await getAnswering(services, principal, params.id);
      const visitor = await findVisitor(services, companion, query.visitorSub);
      return await answerListener(services, {
        ...{ request, set, companion, isVerified: visitor !== null, address: null },
        key: readKey(new URL(request.url), companion.id, visitor?.id ?? null),
        right: rightOfListeningKey(services, principal, companion.id),
      });
    },
  }),
  route({
    id: "reportLiveForVisitor",
    method: "POST",
    path: relayedPath,
    tag: "Relayed people",
    summary: "Report what a visitor types and sees, for a platform",
    access: "chat:write",
    body: liveBodies.relayed,
    document: () => ({ responses: reported, errors: ["conflict"] }),
    async handle({ services, principal, request, params, readBody }) {
      const companion = await getAnswering(services, principal, params.id);
      requireJsonContentType(request);
      const body = await readBody();
      const visitor = await openVisitor(services, companion, body);
      await report(services, companion, visitor?.id ?? null, body);
    },
  }),
];

function rightOfListeningKey({ store, clock, live }: Services, principal: Principal, companionId: string) {
  const right = rightOfKey({ store, clock, openTurns: live.rights }, principal, companionId);
  return {
    name: `key ${principal.keyId} ${companionId}`,
    check: async () => (await right.check()) !== null,
    tokenEndsAtMs: null,
  };
}

async function report(
  { store, live }: Services,
  companion: Companion,
  ownVisitorId: string | null,
  { session_id, visitor_id, typing, seen }: Sent<typeof liveBodies.own>,
): Promise<void> {
  const visitorId = ownVisitorId ?? visitor_id?.toLowerCase() ?? null;
  const key: ConversationKey = { companionId: companion.id, sessionId: session_id.toLowerCase(), visitorId };
  const found = await store.handoffs.findLive(key);
  requirePeople(companion, found);
  if (found === null) throw noConversation();
  const { accountId, conversationId, newestSeq, handoff } = found;
  if (seen !== undefined) await store.handoffs.markSeen(key, Math.min(seen, newestSeq));
  // In plain talk no one is there to see it.
  if (typing === undefined || handoff === null) return;
  const writer = { by: "visitor", personId: null, name: null } as const;
  live.noteTyping({ accountId, companionId: companion.id, conversationId, isTyping: typing, ...writer });
}

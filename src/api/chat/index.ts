/** `POST /api/embed/{token}/chat`: a visitor's message in, the reply streamed out (spec 4.2). */
import type { TurnEntry } from "../../contracts/coordination.ts";
import type { Services } from "../../core/dependencies.ts";
import { ConversationStorage, countsAgain, queueKeyOf } from "../../core/turns/conversation-storage.ts";
import { Turn } from "../../core/turns/turn.ts";
import type { NamedStart } from "../../core/turns/turn-start.ts";
import type { RepeatableUse, VerifiedVisitor } from "../../core/visitors/visitors.ts";
import type { Companion } from "../../domain/companion.ts";
import { type ConversationKey, freeRepeats } from "../../domain/conversation.ts";
import { toldSources } from "../../domain/knowledge.ts";
import { instructFor } from "../../domain/visitor-prompt.ts";
import { eventStream } from "../../http/api-description.ts";
import { clientOf } from "../../http/client.ts";
import { RightOfToken } from "../../http/embed-guard.ts";
import { embedBodyLimitBytes, jsonBody, requireJsonContentType } from "../../http/json-body.ts";
import type { ResponseHead } from "../../http/json-response.ts";
import { contextOf } from "../../http/request-context.ts";
import { type Route, route } from "../../http/route.ts";
import { checkWith } from "../../http/schemas/schema.ts";
import { EventStream } from "../../http/sse.ts";
import { addHeaders, respondWithTurn } from "../../http/stream-response.ts";
import { confirmationRoutes } from "./confirmation-routes.ts";
import { type ChatRequest, chatRequest, listNamingFaults } from "./model.ts";
import { answerMessage } from "./reply-responses.ts";
import { replyRoutes } from "./reply-routes.ts";
import type { Sending } from "./sending.ts";

/** Their own limit of the day, if the companion sets one. */
function limitOf({ dailyPerVisitor }: Companion, visitor: VerifiedVisitor | null): TurnEntry["visitor"] {
  if (visitor === null || dailyPerVisitor === null) return null;
  return { id: visitor.id, messagesPerDay: dailyPerVisitor };
}

/** Throws `invalid_request` with all that is at fault. */
function checkMessage(sent: unknown): ChatRequest {
  const body = sent as Partial<ChatRequest> | null;
  return body?.message_id || body?.resume
    ? checkWith(chatRequest, sent, listNamingFaults(body))
    : chatRequest.check(sent);
}

/** The conversation's id, sent or new, which the response names. */
export function nameSession(ids: Services["ids"], { session_id }: ChatRequest, set: ResponseHead): string {
  const sessionId = session_id?.toLowerCase() ?? ids.randomUuid();
  set.headers["x-session-id"] = sessionId;
  return sessionId;
}

type NamedMessage = Pick<NamedStart, "messageId" | "repeats">;

/** The same message may begin again with it, in this conversation, as often as it counts nothing. */
function toUse(key: ConversationKey, named: NamedMessage): RepeatableUse {
  const isOwn = named.repeats !== null && countsAgain(named);
  return { name: `${queueKeyOf(key)} ${named.messageId}`, repeats: isOwn ? 0 : freeRepeats };
}

/** Streams the reply to a visitor's message, however it came. */
export async function streamReply(
  services: Services,
  { request, set, sessionId, visitor, work, ...start }: Sending,
  { message, visitor_id, message_id, resume, events }: ChatRequest,
): Promise<Response> {
  const { companion, right } = start;
  const key = { companionId: companion.id, sessionId, visitorId: visitor?.id ?? visitor_id?.toLowerCase() ?? null };
  const arrivalMark = services.coordination.arrivals.mark();
  const context = contextOf(request, services.ids);
  const messageId = message_id?.toLowerCase() ?? null;
  const hasEvents = events === true;
  const conversation = { companion, key, visitor, arrivalMark, requestId: context.requestId };
  const spend = work && ((named: NamedMessage | null) => work.spend(named && toUse(key, named)));
  const openPeople = async () => {
    const { PeopleReplies } = await import("./people-replies.ts");
    return new PeopleReplies(services, request, conversation, { text: message, messageId, hasEvents, spend });
  };
  const people = companion.handoff === null ? null : await openPeople();
  const makeTurn = (named: NamedStart | null) => {
    const kept = { text: message, arrivalMark, named, visitor };
    const turn = {
      ...start,
      companion: instructFor(companion, visitor?.claims ?? null),
      message,
      requestId: context.requestId,
      named,
      visitor: limitOf(companion, visitor),
      caller: { sessionId, visitor: visitor?.claims ?? null, hasEvents },
      spendWork: spend && (() => spend(named)),
    };
    if (people !== null) return people.makeTurn(turn, kept);
    return new Turn(services, { ...turn, storage: new ConversationStorage(services, companion, key, kept) });
  };
  if (messageId === null) {
    const kept = await people?.keep();
    if (kept) return addHeaders(kept, set);
    const stream = new EventStream(request.signal, services.heartbeats, hasEvents);
    const answered = respondWithTurn(makeTurn(null), stream, set, context);
    if (people === null) return answered;
    return addHeaders(await answered.catch((failure: unknown) => people.answerFailure(failure)), set);
  }
  const sources = hasEvents ? toldSources(companion) : null;
  const call = { action: "attach", key, messageId, message, resume: resume === true, offset: 0, sources } as const;
  const hasTools = companion.toolCount > 0;
  const sender = { right, makeTurn, people, openPeople };
  return addHeaders(await answerMessage(services, { ...call, hasTools }, request, sender), set);
}

export const chatRoutes: readonly Route[] = [
  route({
    id: "chat",
    method: "POST",
    path: "/api/embed/{token}/chat",
    tag: "Embed",
    summary: "Send a message and stream the reply",
    access: "embed",
    asksWork: true,
    body: { ...jsonBody(chatRequest, { limitBytes: embedBodyLimitBytes }), check: checkMessage },
    document: () => ({
      description:
        "The status is held back until the reply's first text, so a failing provider is a true 502. Turns of one " +
        "conversation run in order; a fourth waiting one gets 429, and so does one address with too many running replies. Unknown fields are ignored.\n\n" +
        "The same request again, with the same `message_id`, gets the same reply from its start, running or stored, and " +
        "uses nothing: no second message, no quota, no slot in the queue. If the first one was refused, or failed " +
        "before its first text, the message runs again: three times without counting again, and then as a new one. With another `message` it is 409, and so is a message that was cancelled.",
      responses: { 200: { ...eventStream, headers: ["X-Session-Id"] } },
      errors: ["conflict", "quota_exceeded", "budget_exceeded", "upstream_error"],
    }),
    async handle({ services, request, params, set, target: { companion, plan }, visitor, work, readBody }) {
      // Even without a body.
      requireJsonContentType(request);
      const body = await readBody();
      const sending = {
        ...{ request, set, companion, plan, visitor, work },
        sessionId: nameSession(services.ids, body, set),
        keyId: companion.createdByKeyId,
        address: clientOf(services, request).limitSubject,
        right: new RightOfToken(services.store.companions, params.token),
      };
      return await streamReply(services, sending, body);
    },
  }),
  ...replyRoutes,
  ...confirmationRoutes,
];

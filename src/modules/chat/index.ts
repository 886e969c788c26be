/** `POST /api/embed/{token}/chat`: a visitor's message in, the reply streamed out (spec 4.2). */
import type { TurnEntry } from "../../coordination/coordination.ts";
import type { Companion } from "../../domain/companion.ts";
import { invalidFields } from "../../domain/errors.ts";
import { instructFor } from "../../domain/visitor-prompt.ts";
import { embedTokenParam, eventStream } from "../../http/api-description.ts";
import { clientOf } from "../../http/client.ts";
import { rightOfToken } from "../../http/embed-guard.ts";
import { embedBodyLimitBytes, jsonBody, requireJsonContentType } from "../../http/json-body.ts";
import { contextOf } from "../../http/request-context.ts";
import { type Route, route } from "../../http/route.ts";
import { EventStream } from "../../http/sse.ts";
import { addHeaders, respondWithTurn } from "../../http/stream-response.ts";
import { ConversationKeeper, queueKeyOf } from "../../turns/conversation-keeper.ts";
import { Turn } from "../../turns/turn.ts";
import type { NamedStart } from "../../turns/turn-start.ts";
import type { VerifiedVisitor } from "../../visitors/visitors.ts";
import { type ChatRequest, chatRequest, listNamingFaults } from "./model.ts";
import { answerMessage } from "./reply-responses.ts";
import { replyRoutes } from "./reply-routes.ts";

/** Their own limit of the day, if the companion sets one. */
function limitOf({ dailyPerVisitor }: Companion, visitor: VerifiedVisitor | null): TurnEntry["visitor"] {
  if (visitor === null || dailyPerVisitor === null) return null;
  return { id: visitor.id, messagesPerDay: dailyPerVisitor };
}

/** Throws `invalid_request` with all that is at fault. */
function checkMessage(sent: unknown): ChatRequest {
  const body = sent as Partial<ChatRequest> | null;
  if (!body?.message_id && !body?.resume) return chatRequest.check(sent);
  const faults = listNamingFaults(body);
  if (faults.length === 0) return chatRequest.check(sent);
  const others = chatRequest.listErrors(sent).filter(({ param }) => faults.every((fault) => fault.param !== param));
  throw invalidFields([...others, ...faults]);
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
        "takes nothing: no second message, no quota, no place in the queue. If the first one was refused, or failed " +
        "before its first text, the message runs anew. With another `message` it is 409, and so is a message that was cancelled.",
      params: { token: embedTokenParam },
      responses: { 200: { ...eventStream, headers: ["X-Session-Id"] } },
      errors: ["conflict", "quota_exceeded", "upstream_error"],
    }),
    async handle({ services, request, params, set, target: { companion, plan }, visitor, work, readBody }) {
      // Even without a body.
      requireJsonContentType(request);
      const { message, session_id, visitor_id, message_id, resume } = await readBody();
      const sessionId = session_id?.toLowerCase() ?? services.ids.randomUuid();
      set.headers["x-session-id"] = sessionId;
      const key = { companionId: companion.id, sessionId, visitorId: visitor?.id ?? visitor_id?.toLowerCase() ?? null };
      const arrivalMark = services.coordination.arrivals.mark();
      const context = contextOf(request, services.ids);
      const { requestId } = context;
      const address = clientOf(services, request).limitSubject;
      const right = rightOfToken(services.store.companions, params.token);
      const makeTurn = (named: NamedStart | null) =>
        new Turn(services, {
          companion: instructFor(companion, visitor?.claims ?? null),
          plan,
          keyId: companion.createdByKeyId,
          message,
          requestId,
          address,
          right,
          keeper: new ConversationKeeper(services, companion, key, { text: message, arrivalMark, named, visitor }),
          named,
          visitor: limitOf(companion, visitor),
          // The same message may begin again, in this conversation.
          spendWork: work && (() => work.spend(named && `${queueKeyOf(key)} ${named.messageId}`)),
        });
      if (!message_id) {
        return respondWithTurn(makeTurn(null), new EventStream(request.signal, services.heartbeats), set, context);
      }
      const messageId = message_id.toLowerCase();
      const call = { action: "attach", key, messageId, message, resume: resume === true, offset: 0 } as const;
      return addHeaders(await answerMessage(services, call, request, { right, makeTurn }), set);
    },
  }),
  ...replyRoutes,
];

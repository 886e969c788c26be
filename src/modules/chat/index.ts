/** `POST /api/embed/{token}/chat`: a visitor's message in, the reply streamed out (spec 4.2). */
import { instructFor } from "../../domain/visitor-prompt.ts";
import { embedTokenParam, eventStream } from "../../http/api-description.ts";
import { clientOf } from "../../http/client.ts";
import { noCompanion } from "../../http/embed-guard.ts";
import { embedBodyLimitBytes, jsonBody, requireJsonContentType } from "../../http/json-body.ts";
import { contextOf } from "../../http/request-context.ts";
import { type Route, route } from "../../http/route.ts";
import { EventStream } from "../../http/sse.ts";
import { respondWithTurn } from "../../http/stream-response.ts";
import type { CompanionStore } from "../../store/store.ts";
import { ConversationKeeper } from "../../turns/conversation-keeper.ts";
import { Turn } from "../../turns/turn.ts";
import type { TurnRight } from "../../turns/turn-start.ts";
import { chatRequest } from "./model.ts";

/** A separate function, so that the closure does not keep the request alive as long as the reply. */
function rightOf(companions: CompanionStore, token: string): TurnRight {
  return { check: () => companions.checkEmbedToken(token), refusal: noCompanion };
}

export const chatRoutes: readonly Route[] = [
  route({
    id: "chat",
    method: "POST",
    path: "/api/embed/{token}/chat",
    tag: "Embed",
    summary: "Send a message and stream the reply",
    access: "embed",
    body: jsonBody(chatRequest, { limitBytes: embedBodyLimitBytes }),
    document: () => ({
      description:
        "The status is held back until the reply's first text, so a failing provider is a true 502. Turns of one " +
        "conversation run in order; a fourth waiting one gets 429, and so does one address with too many running replies. Unknown fields are ignored.",
      params: { token: embedTokenParam },
      responses: { 200: { ...eventStream, headers: ["X-Session-Id"] } },
      errors: ["quota_exceeded", "upstream_error"],
    }),
    async handle({ services, request, params, set, target: { companion, plan }, visitor, readBody }) {
      // Even without a body.
      requireJsonContentType(request);
      const { message, session_id, visitor_id } = await readBody();
      const sessionId = session_id?.toLowerCase() ?? services.ids.randomUuid();
      set.headers["x-session-id"] = sessionId;
      const place = { sessionId, visitorId: visitor_id?.toLowerCase() ?? null };
      const context = contextOf(request, services.ids);
      const turn = new Turn(services, {
        companion: instructFor(companion, visitor?.claims ?? null),
        plan,
        message,
        requestId: context.requestId,
        address: clientOf(services, request).limitSubject,
        right: rightOf(services.store.companions, params.token),
        keeper: new ConversationKeeper(services, companion, place, message),
      });
      return respondWithTurn(turn, new EventStream(request.signal, services.heartbeats), set, context);
    },
  }),
];

/** `POST /api/embed/{token}/chat`: a visitor's message in, the reply streamed out (spec 4.2). */
import type { Elysia } from "elysia";
import type { Services } from "../../dependencies.ts";
import { clientOf } from "../../http/client.ts";
import { noCompanion, openEmbed } from "../../http/embed-guard.ts";
import { embedBodyLimitBytes, readJson, requireJsonContentType } from "../../http/json-body.ts";
import { contextOf } from "../../http/request-context.ts";
import { EventStream } from "../../http/sse.ts";
import { respondWithTurn } from "../../http/stream-response.ts";
import type { CompanionStore } from "../../store/store.ts";
import { ConversationKeeper } from "../../turns/conversation-keeper.ts";
import { Turn } from "../../turns/turn.ts";
import type { TurnRight } from "../../turns/turn-start.ts";
import { chatRequest } from "./model.ts";

/** Apart from the request, which would live as long as the reply. */
function rightOf(companions: CompanionStore, token: string): TurnRight {
  return { check: () => companions.checkEmbedToken(token), refusal: noCompanion };
}

export function chatModule(services: Services) {
  return (app: Elysia) =>
    app.post(
      "/api/embed/:token/chat",
      async ({ request, params, set }) => {
        const target = await openEmbed(services, request, params.token, set.headers);
        requireJsonContentType(request);
        const body = await readJson(request, chatRequest, embedBodyLimitBytes);
        const sessionId = body.session_id?.toLowerCase() ?? services.ids.randomUuid();
        set.headers["x-session-id"] = sessionId;

        const facts = contextOf(request, services.ids);
        const { companion, plan } = target;
        const visitor = { sessionId, visitorId: body.visitor_id?.toLowerCase() ?? null };
        const turn = new Turn(services, {
          companion,
          plan,
          message: body.message,
          requestId: facts.requestId,
          address: clientOf(services, request).limitSubject,
          right: rightOf(services.store.companions, params.token),
          keeper: new ConversationKeeper(services, companion, visitor, body.message),
        });
        return respondWithTurn(turn, new EventStream(request.signal, services.heartbeats), set, facts);
      },
      { parse: "none" },
    );
}

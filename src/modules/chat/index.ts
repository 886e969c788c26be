/** `POST /api/embed/{token}/chat`: a visitor's message in, the reply streamed out (spec 4.2). */
import type { Elysia } from "elysia";
import type { Services } from "../../dependencies.ts";
import { clientOf } from "../../http/client.ts";
import { noCompanion, openEmbed } from "../../http/embed-guard.ts";
import { embedBodyLimitBytes, readJson, requireJsonContentType } from "../../http/json-body.ts";
import { contextOf } from "../../http/request-context.ts";
import { EventStream } from "../../http/sse.ts";
import { streamResponse } from "../../http/stream-response.ts";
import type { CompanionStore } from "../../store/store.ts";
import type { ReplyRight } from "../../turns/open-reply.ts";
import { chatRequest } from "./model.ts";
import { openTurn } from "./service.ts";

/** Apart from the request, which would live as long as the reply. */
function rightOf(companions: CompanionStore, token: string): ReplyRight {
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
        const reply = services.openReplies.open({
          visitor: request.signal,
          address: clientOf(services, request).limitSubject,
          right: rightOf(services.store.companions, params.token),
        });
        const stream = new EventStream(request.signal, services.heartbeats);
        await openTurn(services, {
          target,
          sessionId,
          visitorId: body.visitor_id?.toLowerCase() ?? null,
          message: body.message,
          arrivalMark: services.coordination.arrivals.mark(),
          requestId: facts.requestId,
          stream,
          reply,
        });
        return streamResponse(stream, set, facts);
      },
      { parse: "none" },
    );
}

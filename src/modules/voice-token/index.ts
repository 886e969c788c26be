/** `POST /api/embed/{token}/voice-token`: the signed URL of one voice session (spec 4.3). */
import type { Elysia } from "elysia";
import type { Services } from "../../dependencies.ts";
import { openEmbed } from "../../http/embed-guard.ts";
import { embedBodyLimitBytes, parseJson, readJsonText } from "../../http/json-body.ts";
import { respondJson } from "../../http/json-response.ts";
import { contextOf } from "../../http/request-context.ts";
import { voiceTokenRequest } from "./model.ts";
import { startVoiceSession } from "./service.ts";

/** Over the provider's deadline, which is as long as what an idle connection is allowed. */
const providerSilenceSeconds = 30;

export function voiceTokenModule(services: Services) {
  return (app: Elysia) =>
    app.post(
      "/api/embed/:token/voice-token",
      async ({ request, params, set }) => {
        const target = await openEmbed(services, request, params.token, set.headers);
        const text = await readJsonText(request, embedBodyLimitBytes);
        const body = voiceTokenRequest.check(text === "" ? {} : parseJson(text));
        const sessionId = body.session_id?.toLowerCase() ?? services.ids.randomUuid();
        set.headers["x-session-id"] = sessionId;
        const visitorId = body.visitor_id?.toLowerCase() ?? null;
        contextOf(request, services.ids).allowSilence(providerSilenceSeconds);
        const answer = await startVoiceSession(services, { target, sessionId, visitorId, signal: request.signal });
        // It opens a paid session: no cache may keep it.
        set.headers["cache-control"] = "no-store";
        return respondJson(set, answer);
      },
      { parse: "none" },
    );
}

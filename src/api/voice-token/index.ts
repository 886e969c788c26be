/** `POST /api/embed/{token}/voice-token`: the signed URL of one voice session (spec 4.3). */
import { Type as t } from "@sinclair/typebox";
import { jsonResponse } from "../../http/api-description.ts";
import { RightOfToken } from "../../http/embed-guard.ts";
import { embedBodyLimitBytes, jsonBody } from "../../http/json-body.ts";
import { contextOf } from "../../http/request-context.ts";
import { type Route, route } from "../../http/route.ts";
import { nullishUuid } from "../../http/schemas/chat-message.ts";
import { compileChecker } from "../../http/schemas/schema.ts";
import { VoiceTokenResponse } from "./responses.ts";
import { startVoiceSession } from "./service.ts";

const voiceTokenRequest = compileChecker(() =>
  t.Object(
    {
      session_id: nullishUuid(
        "The session's conversation. If left out, a new one begins; its id is in `X-Session-Id`.",
      ),
      visitor_id: nullishUuid("Identifies the visitor across conversations; ignored for a verified one."),
    },
    { $id: "VoiceTokenRequest", description: "May be left out altogether." },
  ),
);

/** More than the provider's deadline, which is as long as an idle connection may last. */
const providerSilenceSeconds = 30;

export const voiceTokenRoutes: readonly Route[] = [
  route({
    id: "startVoiceSession",
    method: "POST",
    path: "/api/embed/{token}/voice-token",
    tag: "Embed",
    summary: "Get the signed URL of one voice session",
    access: "embed",
    asksWork: true,
    body: jsonBody(voiceTokenRequest, { limitBytes: embedBodyLimitBytes, isOptional: true }),
    document: () => ({
      description:
        "The URL is short-lived: request a new one for each session. Each uses one voice session of the companion's daily " +
        "quota, refunded if the provider refuses. The body may be left out.",
      responses: { 200: jsonResponse("Where the session is held.", VoiceTokenResponse, "X-Session-Id") },
      errors: ["voice_not_configured", "quota_exceeded", "budget_exceeded", "upstream_error"],
    }),
    async handle({ services, request, params, set, target, visitor, work, readBody }) {
      const body = await readBody();
      const sessionId = body.session_id?.toLowerCase() ?? services.ids.randomUuid();
      set.headers["x-session-id"] = sessionId;
      const visitorId = visitor?.id ?? body.visitor_id?.toLowerCase() ?? null;
      const sealedVisitor = visitor && (await services.visitors.seal(visitor));
      contextOf(request, services.ids).allowSilence(providerSilenceSeconds);
      const right = new RightOfToken(services.store.companions, params.token);
      const spoken = { target, right, sessionId, visitorId, sealedVisitor, work };
      const response = await startVoiceSession(services, { ...spoken, signal: request.signal });
      // The URL opens a paid session: no cache may keep it.
      set.headers["cache-control"] = "no-store";
      return response;
    },
  }),
];

/** The voice route, for the API document. */
import { type ApiOperation, embedTokenParam } from "../../http/api-description.ts";
import { voiceTokenRequest } from "./model.ts";
import { VoiceTokenResponse } from "./responses.ts";

export const voiceTokenApi: ApiOperation[] = [
  {
    id: "startVoiceSession",
    method: "POST",
    path: "/api/embed/{token}/voice-token",
    tag: "Embed",
    summary: "Get the signed URL of one voice session",
    description:
      "The URL is short-lived: ask for a new one for each session. Each is one voice session of the companion's day, " +
      "given back where the provider refuses. The body may be left out.",
    access: "embed",
    params: { token: embedTokenParam },
    body: { schema: voiceTokenRequest.schema, isOptional: true },
    answers: {
      200: {
        description: "Where the session is held.",
        content: { "application/json": VoiceTokenResponse },
        headers: ["X-Session-Id"],
      },
    },
    errors: ["voice_not_configured", "quota_exceeded", "upstream_error"],
  },
];

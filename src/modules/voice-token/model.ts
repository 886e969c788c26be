/** The body of a voice token request. */
import { Type as t } from "@sinclair/typebox";
import { nullableUuid } from "../../schemas/chat-message.ts";
import { compileChecker } from "../../schemas/schema.ts";

export const voiceTokenRequest = compileChecker(() =>
  t.Object(
    {
      session_id: t.Optional(
        nullableUuid("The conversation that the session belongs to. Left out: a new one, its id is in `X-Session-Id`."),
      ),
      visitor_id: t.Optional(nullableUuid("Identifies the visitor across conversations.")),
    },
    { $id: "VoiceTokenRequest", description: "May be left out altogether." },
  ),
);

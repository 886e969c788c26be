/** The body of a voice token request. */
import { Type as t } from "@sinclair/typebox";
import { nullishUuid } from "../../http/schemas/chat-message.ts";
import { compileChecker } from "../../http/schemas/schema.ts";

export const voiceTokenRequest = compileChecker(() =>
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

/** What a visitor's client may send along, and what it gets. */
import { type Static, Type as t } from "@sinclair/typebox";
import { nullableUuid } from "../../http/chat-message.ts";
import { compileChecker } from "../../http/schema.ts";

export const VoiceTokenRequest = t.Object(
  {
    session_id: t.Optional(
      nullableUuid("The conversation that the session belongs to. Left out: a new one, its id is in `X-Session-Id`."),
    ),
    visitor_id: t.Optional(nullableUuid("Identifies the visitor across conversations.")),
  },
  { $id: "VoiceTokenRequest", description: "May be left out altogether." },
);
export type VoiceTokenRequest = Static<typeof VoiceTokenRequest>;

export const voiceTokenRequest = compileChecker(VoiceTokenRequest);

export const VoiceTokenResponse = t.Object(
  {
    signed_url: t.String({
      description: "WebSocket URL (`wss://…`) of one session; open it within 15 minutes.",
      examples: ["wss://api.elevenlabs.io/v1/convai/conversation?agent_id=agent_01jxyz&token=…"],
    }),
    agent_id: t.String({ description: "The voice agent at the provider.", examples: ["agent_01jxyz"] }),
  },
  { $id: "VoiceTokenResponse" },
);
export type VoiceTokenResponse = Static<typeof VoiceTokenResponse>;

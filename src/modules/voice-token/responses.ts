/** Responses of the voice route, for the API document and as the route's type. */
import { type Static, Type as t } from "@sinclair/typebox";

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

/** Response of the voice route, for the API document and as a type: created on first use. */
import { type Static, Type as t } from "@sinclair/typebox";
import { namedObject } from "../../http/schemas/named-object.ts";

export const VoiceTokenResponse = namedObject("VoiceTokenResponse", () => ({
  signed_url: t.String({
    description: "WebSocket URL (`wss://…`) of one session; open it within 15 minutes.",
    examples: ["wss://api.elevenlabs.io/v1/convai/conversation?agent_id=agent_01jxyz&token=…"],
  }),
  agent_id: t.String({ description: "The voice agent at the provider.", examples: ["agent_01jxyz"] }),
}));
export type VoiceTokenResponse = Static<typeof VoiceTokenResponse>;

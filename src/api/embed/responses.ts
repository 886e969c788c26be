/** What a companion shows of itself to everybody: the response of the embed route, whose schema is created on first use. */

import { type Static, Type as t } from "@sinclair/typebox";
import { type Companion, companionDefaults, defaultGreeting } from "../../domain/companion.ts";
import { namedObject } from "../../http/schemas/named-object.ts";

export const EmbedConfig = namedObject("EmbedConfig", () => ({
  name: t.String({ description: "Display name of the companion.", examples: ["Ada"] }),
  avatar_url: t.String({
    format: "uri",
    description: "Avatar image; always set. For a generated one, a `data:` URL if the server has no public URL.",
    examples: ["https://shop.example/ada.png"],
  }),
  greeting: t.String({ description: "Opening message for the chat.", examples: ["Hi! Looking for a bicycle?"] }),
  theme_color: t.String({ pattern: "^#[0-9a-f]{6}$", description: "Theme colour.", examples: ["#0f766e"] }),
  has_voice: t.Boolean({ description: "Whether a voice session can be started now." }),
  has_text_agent: t.Boolean({ description: "Whether messages are answered." }),
  voice_provider: t.String({
    description: "`none`, or the voice-agent provider in use.",
    examples: ["elevenlabs-convai"],
  }),
  challenge: t.Optional(
    t.Literal(true, {
      description: "Present if messages and voice sessions may need a proof of work: see `challenge_required`.",
    }),
  ),
  starters: t.Optional(
    t.Array(t.String({ examples: ["When are you open?"] }), {
      description: "Suggested first questions, if the owner wrote any.",
    }),
  ),
}));
export type EmbedConfig = Static<typeof EmbedConfig>;

/** `voiceProvider` is null if no voice session can be started. */
export function toEmbedConfig(companion: Companion, avatarUrl: string, voiceProvider: string | null): EmbedConfig {
  return {
    name: companion.name,
    avatar_url: avatarUrl,
    greeting: companion.greeting ?? defaultGreeting(companion.name),
    theme_color: companion.themeColor ?? companionDefaults.themeColor,
    has_voice: voiceProvider !== null,
    // There is always a provider: a language model, or the built-in demo.
    has_text_agent: true,
    voice_provider: voiceProvider ?? "none",
    ...(companion.challenge === "off" ? {} : { challenge: true }),
    ...(companion.starters.length > 0 ? { starters: companion.starters } : {}),
  };
}

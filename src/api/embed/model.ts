/** The public face of a companion. */
import { type Companion, companionDefaults, defaultGreeting } from "../../domain/companion.ts";

/** `voiceProvider` is null if no voice session can be started. */
export function toEmbedConfig(companion: Companion, avatarUrl: string, voiceProvider: string | null) {
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

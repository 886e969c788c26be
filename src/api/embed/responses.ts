/** What a companion shows of itself to everyone: the response of the embed route, whose schema is created on first use. */

import { type Static, Type as t } from "@sinclair/typebox";
import type { Availability } from "../../core/people/people.ts";
import { type Companion, companionDefaults, defaultGreeting } from "../../domain/companion.ts";
import type { HandoffSettings } from "../../domain/handoff.ts";
import { describeShownAppearance, toShownAppearance } from "../../http/schemas/appearance.ts";
import { namedObject } from "../../http/schemas/named-object.ts";
import { OneOf } from "../../http/schemas/schema.ts";

export const EmbedConfig = namedObject("EmbedConfig", () => ({
  name: t.String({ description: "Display name of the companion.", examples: ["Ada"] }),
  avatar_url: t.String({
    format: "uri",
    description: "Avatar image; always set. For a generated one, a `data:` URL if the server has no public URL.",
    examples: ["https://shop.example/ada.png"],
  }),
  greeting: t.String({ description: "Opening message for the chat.", examples: ["Hi! Looking for a bicycle?"] }),
  theme_color: t.String({ pattern: "^#[0-9a-f]{6}$", description: "Theme colour.", examples: ["#0f766e"] }),
  appearance: t.Optional(describeShownAppearance()),
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
  handoff: t.Optional(
    t.Object(
      {
        available: t.Boolean({ description: "Whether a person is available." }),
        reopens_at: t.Union([t.String({ format: "date-time" }), t.Null()], {
          description: "When the team is there again; null while it is, and where that is not known.",
          examples: ["2026-11-30T09:00:00.000Z"],
        }),
        ask: t.Boolean({ description: "Whether visitors may ask for a person." }),
        listen: t.Boolean({
          description: "Whether people may write in any conversation: listen while the panel is open.",
        }),
      },
      { description: "Present if people of the team may step in." },
    ),
  ),
  leads: t.Optional(
    t.Object(
      {
        when: OneOf(["unavailable", "always"] as const, {
          description: "Whether the form is offered only while no one is available, or always.",
        }),
        consent_text: t.String({ description: "What the visitor agrees to.", examples: ["You may write to me."] }),
      },
      { description: "Present if visitors may leave a contact." },
    ),
  ),
  ratings: t.Optional(t.Literal(true, { description: "Present if visitors may rate replies." })),
  ask_resolved: t.Optional(t.Literal(true, { description: "Present if visitors are asked whether it is resolved." })),
}));
export type EmbedConfig = Static<typeof EmbedConfig>;

/** `voiceProvider` is null if no voice session can be started. */
export function toEmbedConfig(
  companion: Companion,
  avatarUrl: string,
  voiceProvider: string | null,
  handoff: Availability | null,
): EmbedConfig {
  const { leads } = companion;
  return {
    name: companion.name,
    avatar_url: avatarUrl,
    greeting: companion.greeting ?? defaultGreeting(companion.name),
    theme_color: companion.themeColor ?? companionDefaults.themeColor,
    ...(companion.appearance === null ? {} : { appearance: toShownAppearance(companion.appearance) }),
    has_voice: voiceProvider !== null,
    // There is always a provider: a language model, or the built-in demo.
    has_text_agent: true,
    voice_provider: voiceProvider ?? "none",
    ...(companion.challenge === "off" ? {} : { challenge: true }),
    ...(companion.starters.length > 0 ? { starters: companion.starters } : {}),
    ...(companion.handoff !== null && handoff !== null ? { handoff: toWireHandoff(companion.handoff, handoff) } : {}),
    ...(leads === null ? {} : { leads: { when: leads.when, consent_text: leads.consentText } }),
    ...(companion.ratings ? { ratings: true } : {}),
    ...(companion.askResolved ? { ask_resolved: true } : {}),
  };
}

function toWireHandoff({ ask, mode }: HandoffSettings, { isAvailable, reopensAtMs }: Availability) {
  return {
    available: isAvailable,
    reopens_at: reopensAtMs === null ? null : new Date(reopensAtMs).toISOString(),
    ask: ask.includes("visitor"),
    listen: mode === "any",
  };
}

/** What the companions' routes answer, for the API document alone: made when somebody asks for it. */
import { type Static, Type as t } from "@sinclair/typebox";
import { later } from "../../lib/later.ts";
import { Nullable } from "../../schemas/schema.ts";
import { companionFields } from "./fields.ts";

const id = later(() => t.String({ format: "uuid", examples: ["0192f3c1-7d2e-7a44-9a10-3f5b8c6d2e10"] }));
const instant = (description: string) =>
  t.String({ format: "date-time", description, examples: ["2026-01-31T12:00:00.000Z"] });

export const CompanionObject = later(() => {
  const { name, settings } = companionFields();
  return t.Object(
    {
      id,
      name,
      system_prompt: Nullable(settings.system_prompt),
      greeting: Nullable(settings.greeting),
      avatar_url: Nullable(settings.avatar_url),
      theme_color: Nullable(settings.theme_color),
      voice_id: Nullable(settings.voice_id),
      voice_agent_id: Nullable(settings.voice_agent_id),
      model: Nullable(settings.model),
      temperature: Nullable(settings.temperature),
      max_output_tokens: Nullable(settings.max_output_tokens),
      context_tokens: settings.context_tokens,
      metadata: settings.metadata,
      allowed_origins: settings.allowed_origins,
      starters: settings.starters,
      retention_days: Nullable(settings.retention_days),
      enabled: settings.enabled,
      embed_token: Nullable(
        t.String({
          description: "The oldest embed token that is still valid; null when all were revoked.",
          examples: ["emb_4fQ0ZrT8mWc2LxV7bN1yKpE6sHdJ9uGa"],
        }),
      ),
      created_by_key_id: Nullable(
        t.String({ description: "The API key that made it; null: the dashboard or the CLI." }),
      ),
      created_at: instant("When it was made."),
      updated_at: instant("When it was last changed."),
    },
    { $id: "Companion", additionalProperties: false },
  );
});

export const EmbedTokenObject = later(() =>
  t.Object(
    {
      id,
      token: t.String({
        description: "Goes into the page; opens this one companion.",
        examples: ["emb_4fQ0ZrT8mWc2LxV7bN1yKpE6sHdJ9uGa"],
      }),
      name: Nullable(t.String()),
      created_at: instant("When it was made."),
      last_used_at: Nullable(instant("When it last opened the companion; kept to the second.")),
    },
    { $id: "EmbedToken", additionalProperties: false },
  ),
);
export type Companion = Static<typeof CompanionObject>;
export type EmbedToken = Static<typeof EmbedTokenObject>;

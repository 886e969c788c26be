/** Companions and embed tokens on the wire: what owners send and what they read back. */
import { Type as t } from "@sinclair/typebox";
import { type Companion, companionDefaults, type EmbedToken } from "../../domain/companion.ts";
import { messageText, nullableUuid } from "../../http/chat-message.ts";
import type { CollectedReply } from "../../http/reply.ts";
import { compileChecker, Nullable, Text } from "../../http/schema.ts";
import { toRfc3339 } from "../../lib/clock.ts";
import type { ReplyRequest } from "../../llm/provider.ts";
import { nameField, sentFields, settingFields } from "./fields.ts";

export const NewCompanionBody = t.Object(
  { name: nameField, ...sentFields },
  { $id: "NewCompanion", additionalProperties: false, description: "A companion to make; only the name is required." },
);

export const CompanionPatchBody = t.Object(
  { name: t.Optional(nameField), ...sentFields },
  {
    $id: "CompanionPatch",
    additionalProperties: false,
    description: "The fields to change; `null` clears one, `metadata` is replaced as a whole.",
  },
);

const id = t.String({ format: "uuid", examples: ["0192f3c1-7d2e-7a44-9a10-3f5b8c6d2e10"] });
const instant = (description: string) =>
  t.String({ format: "date-time", description, examples: ["2026-01-31T12:00:00.000Z"] });

export const CompanionObject = t.Object(
  {
    id,
    name: nameField,
    system_prompt: Nullable(settingFields.system_prompt),
    greeting: Nullable(settingFields.greeting),
    avatar_url: Nullable(settingFields.avatar_url),
    theme_color: Nullable(settingFields.theme_color),
    voice_id: Nullable(settingFields.voice_id),
    voice_agent_id: Nullable(settingFields.voice_agent_id),
    model: Nullable(settingFields.model),
    temperature: Nullable(settingFields.temperature),
    max_output_tokens: Nullable(settingFields.max_output_tokens),
    context_tokens: settingFields.context_tokens,
    metadata: settingFields.metadata,
    allowed_origins: settingFields.allowed_origins,
    starters: settingFields.starters,
    retention_days: Nullable(settingFields.retention_days),
    enabled: settingFields.enabled,
    embed_token: Nullable(
      t.String({
        description: "The oldest embed token that is still valid; null when all were revoked.",
        examples: ["emb_4fQ0ZrT8mWc2LxV7bN1yKpE6sHdJ9uGa"],
      }),
    ),
    created_by_key_id: Nullable(t.String({ description: "The API key that made it; null: the dashboard or the CLI." })),
    created_at: instant("When it was made."),
    updated_at: instant("When it was last changed."),
  },
  { $id: "Companion", additionalProperties: false },
);

/** Sent back as they were read, these are passed over. */
export const readOnlyCompanionFields = ["id", "embed_token", "created_by_key_id", "created_at", "updated_at"] as const;

/** The companion object of every management answer. */
export function toWireCompanion(companion: Companion) {
  return {
    id: companion.id,
    name: companion.name,
    system_prompt: companion.systemPrompt,
    greeting: companion.greeting,
    avatar_url: companion.avatarUrl,
    theme_color: companion.themeColor,
    voice_id: companion.voiceId,
    voice_agent_id: companion.voiceAgentId,
    model: companion.model,
    temperature: companion.temperature,
    max_output_tokens: companion.maxOutputTokens,
    context_tokens: companion.contextTokens ?? companionDefaults.contextTokens,
    metadata: companion.metadata,
    allowed_origins: companion.allowedOrigins,
    starters: companion.starters,
    retention_days: companion.retentionDays,
    enabled: companion.enabled,
    embed_token: companion.embedToken,
    created_by_key_id: companion.createdByKeyId,
    created_at: toRfc3339(companion.createdAt),
    updated_at: toRfc3339(companion.updatedAt),
  };
}

export const NewEmbedTokenBody = t.Object(
  {
    name: t.Optional(
      Nullable(Text({ minLength: 1, maxLength: 100, description: "Where it is used.", examples: ["Landing page"] })),
    ),
  },
  { $id: "NewEmbedToken", additionalProperties: false },
);
export const newEmbedTokenBody = compileChecker(NewEmbedTokenBody);

export const readOnlyEmbedTokenFields = ["id", "token", "created_at", "last_used_at"] as const;

export const EmbedTokenObject = t.Object(
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
);

export function toWireEmbedToken(token: EmbedToken) {
  return {
    id: token.id,
    token: token.token,
    name: token.name,
    created_at: toRfc3339(token.createdAt),
    last_used_at: token.lastUsedAt === null ? null : toRfc3339(token.lastUsedAt),
  };
}

export const TestChatBody = t.Object(
  {
    message: messageText,
    session_id: t.Optional(nullableUuid("Taken as in the public chat, without effect: nothing is kept.")),
    visitor_id: t.Optional(nullableUuid("Taken as in the public chat, without effect: nothing is kept.")),
    history: t.Optional(
      Nullable(
        t.Array(
          t.Object({
            role: t.Union([t.Literal("user"), t.Literal("assistant")], { description: "Who said it." }),
            text: Text({ minLength: 1, maxLength: 100_000, description: "What was said.", examples: ["Hello!"] }),
          }),
          { maxItems: 200, description: "Earlier turns, oldest first, since nothing is kept between calls." },
        ),
      ),
    ),
    trace: t.Optional(
      Nullable(
        t.Boolean({
          description:
            "True: before its end the stream tells, in a comment line `: trace {…}` that clients pass over, what was " +
            "sent to the model, the tokens, and the time to the first text and to the last.",
        }),
      ),
    ),
  },
  { $id: "TestChat" },
);
export const testChatBody = compileChecker(TestChatBody);

/** What the owner is told of a trial turn. */
export function toWireTrace(request: ReplyRequest, { usage, firstTextMs }: CollectedReply, totalMs: number) {
  const { systemPrompt, messages, model, temperature, maxOutputTokens } = request;
  const prompt = systemPrompt === null ? [] : [{ role: "system", text: systemPrompt }];
  return {
    model,
    temperature,
    max_output_tokens: maxOutputTokens,
    messages: [...prompt, ...messages.map(({ role, text }) => ({ role, text }))],
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    tokens_estimated: usage.estimated,
    first_text_ms: firstTextMs === null ? null : Math.round(firstTextMs),
    total_ms: Math.round(totalMs),
  };
}

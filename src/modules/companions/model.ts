/** Companions on the wire: what owners send, checked, and what they read back. */
import { type Static, Type as t } from "@sinclair/typebox";
import {
  type Companion,
  type CompanionSettings,
  companionDefaults,
  type JsonObject,
  newCompanionSettings,
} from "../../domain/companion.ts";
import { type FieldError, invalidFields } from "../../domain/errors.ts";
import { findMetadataProblem } from "../../domain/metadata.ts";
import { normalizeOrigin } from "../../domain/origin.ts";
import { compileChecker, Nullable, Text } from "../../http/schema.ts";
import { toRfc3339 } from "../../lib/clock.ts";

const originProblem = "Must be an origin like https://shop.example or https://*.shop.example.";

const fields = {
  system_prompt: Nullable(Text({ maxLength: 32_000, description: "Instruction text for the language model." })),
  greeting: Nullable(Text({ maxLength: 1000, description: "Opening message. Not set: one made of the name." })),
  avatar_url: Nullable(
    Text({
      maxLength: 2000,
      accepts: (text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ""),
      problem: "Must be an http or https URL, or null.",
      description: "Avatar image, http or https. Not set: an image that the server makes.",
    }),
  ),
  theme_color: Nullable(
    Text({
      pattern: "^#[0-9a-fA-F]{6}$",
      problem: "Must be a colour of the form #rrggbb, or null.",
      description: `Theme colour, \`#rrggbb\`. Not set: \`${companionDefaults.themeColor}\`.`,
    }),
  ),
  voice_id: Nullable(Text({ minLength: 1, maxLength: 200, description: "A voice: the server keeps a voice agent." })),
  voice_agent_id: Nullable(
    Text({ minLength: 1, maxLength: 200, description: "An existing voice agent, used as it is." }),
  ),
  model: Nullable(Text({ minLength: 1, maxLength: 200, description: "One of the models that the operator offers." })),
  temperature: Nullable(t.Number({ minimum: 0, maximum: 2, description: "Sent to the model only where set." })),
  max_output_tokens: Nullable(
    t.Integer({ minimum: 1, description: "Longest reply; the operator sets an upper bound." }),
  ),
  context_tokens: Nullable(
    t.Integer({
      minimum: 1,
      maximum: 10_000_000,
      description: `How much of the conversation goes to the model. Not set: ${companionDefaults.contextTokens}.`,
    }),
  ),
  metadata: t.Unsafe<JsonObject>(
    t.Object(
      {},
      { additionalProperties: true, description: "Any JSON object: at most 16 KiB, at most 8 levels deep." },
    ),
  ),
  allowed_origins: Nullable(
    t.Array(Text({ accepts: (text) => normalizeOrigin(text) !== null, problem: originProblem }), {
      maxItems: 50,
      description: "Origins that may embed it, `https://shop.example` or `https://*.shop.example`. Empty: any.",
    }),
  ),
  starters: Nullable(
    t.Array(Text({ minLength: 1, maxLength: 200 }), { maxItems: 6, description: "Suggested first questions." }),
  ),
  retention_days: Nullable(
    t.Integer({ minimum: 1, maximum: 36_500, description: "Older conversations are deleted. Not set: kept." }),
  ),
  enabled: t.Boolean({ description: "False: its embed routes answer 404, its tokens stay." }),
};

export const NewCompanionBody = t.Object(
  {
    name: Text({ minLength: 1, maxLength: 100, description: "Name, shown to visitors." }),
    ...t.Partial(t.Object(fields)).properties,
  },
  { $id: "NewCompanion", additionalProperties: false },
);
export type NewCompanionBody = Static<typeof NewCompanionBody>;

const newCompanionBody = compileChecker(NewCompanionBody);

/** What the operator allows, since the operator pays. */
export interface CompanionBounds {
  models: readonly string[];
  maxOutputTokens: number;
}

/** Settings of a new companion from a request's body; throws `invalid_request` with every field at fault. */
export function readNewCompanion(body: unknown, bounds: CompanionBounds): CompanionSettings {
  const errors = newCompanionBody.listErrors(body);
  if (typeof body !== "object" || body === null || errors.some((error) => error.param === "")) {
    newCompanionBody.check(body);
  }
  const faulty = new Set(errors.map((error) => error.param.split(".")[0]));
  const sound = Object.fromEntries(Object.entries(body ?? {}).filter(([name]) => !faulty.has(name)));
  errors.push(...listRuleErrors(sound, bounds));
  if (errors.length > 0) throw invalidFields(errors);
  const sent = newCompanionBody.check(body);
  return { ...newCompanionSettings(sent.name), ...toSettings(sent) };
}

/** What the schema cannot say, for fields that are of the right type. */
function listRuleErrors(sent: Partial<NewCompanionBody>, bounds: CompanionBounds): FieldError[] {
  const errors: FieldError[] = [];
  const refuse = (param: string, detail: string) => errors.push({ param, detail });
  if (sent.name !== undefined && sent.name.trim() === "") refuse("name", "Must not be only white space.");
  if (sent.model != null && !bounds.models.includes(sent.model)) {
    refuse("model", `Must be one of: ${bounds.models.join(", ")}.`);
  }
  if (sent.max_output_tokens != null && sent.max_output_tokens > bounds.maxOutputTokens) {
    refuse("max_output_tokens", `Must be at most ${bounds.maxOutputTokens}.`);
  }
  if (sent.voice_id != null && sent.voice_agent_id != null) {
    refuse("voice_agent_id", "Must not be set together with voice_id.");
  }
  const metadataProblem = sent.metadata === undefined ? null : findMetadataProblem(sent.metadata);
  if (metadataProblem !== null) refuse("metadata", metadataProblem);
  return errors;
}

/** Only the fields that were sent; `null` clears. */
function toSettings(sent: Partial<NewCompanionBody>): Partial<CompanionSettings> {
  const settings: Partial<CompanionSettings> = {};
  if (sent.name !== undefined) settings.name = sent.name;
  if (sent.system_prompt !== undefined) settings.systemPrompt = sent.system_prompt;
  if (sent.greeting !== undefined) settings.greeting = sent.greeting;
  if (sent.avatar_url !== undefined) settings.avatarUrl = sent.avatar_url;
  if (sent.theme_color !== undefined) settings.themeColor = sent.theme_color?.toLowerCase() ?? null;
  if (sent.voice_id !== undefined) settings.voiceId = sent.voice_id;
  if (sent.voice_agent_id !== undefined) settings.voiceAgentId = sent.voice_agent_id;
  if (sent.model !== undefined) settings.model = sent.model;
  if (sent.temperature !== undefined) settings.temperature = sent.temperature;
  if (sent.max_output_tokens !== undefined) settings.maxOutputTokens = sent.max_output_tokens;
  if (sent.context_tokens !== undefined) settings.contextTokens = sent.context_tokens;
  if (sent.metadata !== undefined) settings.metadata = sent.metadata;
  if (sent.allowed_origins !== undefined) settings.allowedOrigins = normalizeOrigins(sent.allowed_origins ?? []);
  if (sent.starters !== undefined) settings.starters = sent.starters ?? [];
  if (sent.retention_days !== undefined) settings.retentionDays = sent.retention_days;
  if (sent.enabled !== undefined) settings.enabled = sent.enabled;
  return settings;
}

function normalizeOrigins(origins: readonly string[]): string[] {
  return [...new Set(origins.map((origin) => normalizeOrigin(origin)).filter((origin) => origin !== null))];
}

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

/** Reads a companion's settings from a body, with the rules that a schema cannot state; reports all faults together. */

import type { TObject } from "@sinclair/typebox";
import type { VoiceStore } from "../../contracts/store/store.ts";
import { checkVoiceFields } from "../../core/voice/voice-fields.ts";
import {
  type Companion,
  type CompanionSettings,
  type JsonObject,
  newCompanionSettings,
} from "../../domain/companion.ts";
import { AppError, type FieldError, invalidFields } from "../../domain/errors.ts";
import { isJsonObject } from "../../domain/json.ts";
import { findMetadataProblem, isTooDeep, mergePatch } from "../../domain/metadata.ts";
import { normalizeOrigin } from "../../domain/origin.ts";
import { listGreetingErrors, toAppearance } from "../../http/schemas/appearance.ts";
import { omitReadOnly, pickSound } from "../../http/schemas/named-object.ts";
import { type Checker, maxListedErrors } from "../../http/schemas/schema.ts";
import { companionFields } from "./fields.ts";
import { companionPatchBody, newCompanionBody, type SentSettings } from "./model.ts";
import { listHoursErrors, toHandoff, toLeads } from "./people-fields.ts";
import { CompanionObject } from "./responses.ts";

/** Rules that depend on the server's settings and on stored data. */
export interface SettingRules {
  /** What the operator allows, since the operator pays. */
  models: readonly string[];
  maxOutputTokens: number;
  maxContextTokens: number;
  /** Messages a day that the account's plan allows each companion. */
  dailyMessages: number;
  /** Decides which voice agents the account's companions may use. */
  voice: VoiceStore;
  accountId: string;
}

/** What a change is judged by. */
type CurrentSettings = Pick<Companion, "voiceId" | "voiceAgentId" | "dailyMessages">;

/** Settings of a new companion; throws `invalid_request` with every field at fault. */
export async function readNewCompanion(body: unknown, rules: SettingRules): Promise<CompanionSettings> {
  const sent = await readSent(newCompanionBody, body, rules, newCompanionSettings(""));
  return { ...newCompanionSettings(sent.name), ...toSettings(sent) };
}

/** The settings that change; throws `invalid_request` with every field at fault. */
export async function readCompanionPatch(
  body: unknown,
  rules: SettingRules,
  current: CurrentSettings,
): Promise<Partial<CompanionSettings>> {
  return toSettings(await readSent(companionPatchBody, body, rules, current));
}

/** A JSON Merge Patch: what changes, and what is to be merged into the metadata, or null. Throws as `readCompanionPatch`. */
export async function readMergePatch(
  body: unknown,
  rules: SettingRules,
  current: CurrentSettings & Pick<Companion, "metadata">,
): Promise<{ patch: Partial<CompanionSettings>; metadata: JsonObject | null }> {
  const sent = isJsonObject(body) ? body["metadata"] : undefined;
  if (!isJsonObject(body) || !isJsonObject(sent)) {
    return { patch: await readCompanionPatch(body, rules, current), metadata: null };
  }
  // What it makes of the metadata is checked with all else; too deep a patch is refused before it is merged.
  const merged = isTooDeep(sent) ? sent : mergePatch(current.metadata, sent);
  const { metadata: _, ...patch } = await readCompanionPatch({ ...body, metadata: merged }, rules, current);
  return { patch, metadata: sent };
}

/** Throws `invalid_request` if the result is not valid, as it may be if the metadata changed since the patch was read. */
export function mergeMetadata(current: JsonObject, sent: JsonObject): JsonObject {
  const merged = mergePatch(current, sent);
  const problem = findMetadataProblem(merged);
  if (problem !== null) throw invalidFields([{ param: "metadata", detail: problem }]);
  return merged;
}

async function readSent<Schema extends TObject & { static: SentSettings }>(
  checker: Checker<Schema>,
  body: unknown,
  rules: SettingRules,
  current: CurrentSettings,
): Promise<Schema["static"]> {
  const settable = omitReadOnly(body, checker, CompanionObject);
  const errors = await listSettingErrors(checker, settable, rules, current);
  if (errors.length > 0) throw invalidFields(errors);
  return checker.check(settable);
}

/** Every field at fault, of a body that may have more than settings. */
export async function listSettingErrors(
  checker: Checker<TObject>,
  body: unknown,
  rules: SettingRules,
  current: CurrentSettings,
): Promise<readonly FieldError[]> {
  const errors = checker.listErrors(body);
  // The further checks need values of the right types, and a truncated list does not name all the others.
  if (errors.length >= maxListedErrors) return errors;
  // The checker refuses a body that is not an object.
  if (errors.some(({ param }) => param === "")) return [];
  const sound: SentSettings = pickSound(body, errors);
  return [...errors, ...listRuleErrors(sound, rules, current), ...(await listVoiceErrors(sound, rules, current))];
}

function listRuleErrors(sent: SentSettings, rules: SettingRules, current: CurrentSettings): FieldError[] {
  const errors: FieldError[] = [];
  if (sent.model != null && !rules.models.includes(sent.model)) {
    errors.push({ param: "model", detail: `Must be one of: ${rules.models.join(", ")}.` });
  }
  if (sent.max_output_tokens != null && sent.max_output_tokens > rules.maxOutputTokens) {
    errors.push({ param: "max_output_tokens", detail: `Must be at most ${rules.maxOutputTokens}.` });
  }
  if (sent.context_tokens != null && sent.context_tokens > rules.maxContextTokens) {
    errors.push({ param: "context_tokens", detail: `Must be at most ${rules.maxContextTokens}.` });
  }
  // A companion keeps what it has where the plan has become smaller: the smaller of both holds.
  const messages = sent.daily_messages ?? 0;
  if (messages > rules.dailyMessages && messages !== current.dailyMessages) {
    const detail = `Must be at most ${rules.dailyMessages}, which the account's plan allows.`;
    errors.push({ param: "daily_messages", detail });
  }
  const metadataProblem = sent.metadata == null ? null : findMetadataProblem(sent.metadata);
  if (metadataProblem !== null) errors.push({ param: "metadata", detail: metadataProblem });
  errors.push(...listGreetingErrors(sent.appearance), ...listHoursErrors(sent.handoff?.hours));
  return errors;
}

async function listVoiceErrors(
  sent: SentSettings,
  rules: SettingRules,
  current: CurrentSettings,
): Promise<readonly FieldError[]> {
  if (sent.voice_id === undefined && sent.voice_agent_id === undefined) return [];
  try {
    const fields = {
      voiceId: sent.voice_id === undefined ? current.voiceId : sent.voice_id,
      voiceAgentId: sent.voice_agent_id === undefined ? current.voiceAgentId : sent.voice_agent_id,
    };
    await checkVoiceFields(rules.voice, rules.accountId, fields, current.voiceAgentId);
    return [];
  } catch (error) {
    if (error instanceof AppError && error.errors) return error.errors;
    throw error;
  }
}

/** Only the fields that were sent; null clears. */
export function toSettings(sent: SentSettings): Partial<CompanionSettings> {
  const unset = newCompanionSettings("");
  const given = companionFields().names.filter(([wire]) => sent[wire] !== undefined);
  const settings: Partial<CompanionSettings> = Object.fromEntries(
    given.map(([wire, field]) => [field, sent[wire] ?? unset[field]]),
  );
  if (sent.slug !== undefined) settings.slug = sent.slug;
  if (sent.theme_color) settings.themeColor = sent.theme_color.toLowerCase();
  if (sent.appearance) settings.appearance = toAppearance(sent.appearance);
  if (sent.handoff) settings.handoff = toHandoff(sent.handoff);
  if (sent.leads) settings.leads = toLeads(sent.leads);
  if (sent.allowed_origins) settings.allowedOrigins = normalizeOrigins(sent.allowed_origins);
  return settings;
}

function normalizeOrigins(origins: readonly string[]): string[] {
  return [...new Set(origins.map(normalizeOrigin).filter((origin) => origin !== null))];
}

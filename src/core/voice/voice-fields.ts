/** The rules for a companion's voice fields, for every provider. */
import type { VoiceStore } from "../../contracts/store/store.ts";
import { AppError } from "../../domain/errors.ts";
import { requireOneVoice, unusableAgent, type VoiceFields } from "../../domain/voice-fields.ts";

/**
 * Throws `invalid_request` if a companion of this account may not have these fields, given as they will be after the
 * write: both together, or an agent that the account may not use. `currentAgentId`, which the companion already has, is
 * always allowed.
 */
export async function checkVoiceFields(
  store: VoiceStore,
  accountId: string,
  fields: VoiceFields,
  currentAgentId: string | null,
): Promise<void> {
  requireOneVoice(fields);
  const { voiceAgentId } = fields;
  if (voiceAgentId === null || voiceAgentId === currentAgentId) return;
  if (!(await store.canUseAgent(accountId, voiceAgentId))) throw unusableAgent();
}

/** For a companion without a voice, or a server without a provider. */
export function notConfigured(): AppError {
  return new AppError("voice_not_configured", "This companion has no voice.");
}

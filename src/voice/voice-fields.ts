/** What the voice fields of a companion may hold, whatever provider is configured. */
import { AppError } from "../domain/errors.ts";
import { requireOneVoice, unusableAgent, type VoiceFields } from "../domain/voice-fields.ts";
import type { VoiceStore } from "../store/store.ts";

/**
 * Throws `invalid_request` where the companion of this account may not have these fields as they will be after the
 * write: both at once, an agent that the server manages, or one that another account uses.
 */
export async function checkVoiceFields(store: VoiceStore, accountId: string, fields: VoiceFields): Promise<void> {
  requireOneVoice(fields);
  const { voiceAgentId } = fields;
  if (voiceAgentId === null) return;
  const isTaken =
    (await store.isManagedAgent(voiceAgentId)) || (await store.findAgentAccount(voiceAgentId, accountId)) !== null;
  if (isTaken) throw unusableAgent();
}

/** Of a companion without a voice, or on a server without a provider. */
export function notConfigured(): AppError {
  return new AppError("voice_not_configured", "This companion has no voice.");
}

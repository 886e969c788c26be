/** What the voice fields of a companion may hold, whatever provider is configured. */
import type { Companion } from "../domain/companion.ts";
import { invalidFields } from "../domain/errors.ts";
import type { VoiceStore } from "../store/store.ts";

export type VoiceFields = Pick<Companion, "voiceId" | "voiceAgentId">;

/**
 * Throws `invalid_request` where the companion of this account may not have these fields as they will be after the
 * write: both at once, an agent that the server manages, or one that another account uses.
 */
export async function checkVoiceFields(
  store: VoiceStore,
  accountId: string,
  { voiceId, voiceAgentId }: VoiceFields,
): Promise<void> {
  if (voiceAgentId === null) return;
  if (voiceId !== null) {
    const detail = "Set voice_id or voice_agent_id, not both.";
    throw invalidFields([
      { param: "voice_id", detail },
      { param: "voice_agent_id", detail },
    ]);
  }
  // One sentence for both, so that nobody learns what others have.
  const isTaken =
    (await store.isManagedAgent(voiceAgentId)) || (await store.findAgentAccount(voiceAgentId, accountId)) !== null;
  if (isTaken) {
    throw invalidFields([{ param: "voice_agent_id", detail: "This agent cannot be used by this companion." }]);
  }
}

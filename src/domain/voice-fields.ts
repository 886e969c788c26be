/** The rules of a companion's voice fields, which are checked twice: with all others of a request, and in the commit. */
import type { CompanionSettings } from "./companion.ts";
import { type AppError, invalidFields } from "./errors.ts";

export type VoiceFields = Pick<CompanionSettings, "voiceId" | "voiceAgentId">;

/** Throws `invalid_request` where both are set. */
export function requireOneVoice({ voiceId, voiceAgentId }: VoiceFields): void {
  if (voiceId === null || voiceAgentId === null) return;
  const detail = "Set voice_id or voice_agent_id, not both.";
  throw invalidFields([
    { param: "voice_id", detail },
    { param: "voice_agent_id", detail },
  ]);
}

/** For an agent that the server manages or that another account uses: one sentence, so that nobody learns what others have. */
export function unusableAgent(): AppError {
  return invalidFields([{ param: "voice_agent_id", detail: "This agent cannot be used by this companion." }]);
}

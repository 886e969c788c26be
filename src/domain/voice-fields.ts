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

/** One sentence, whether there is such an agent or the server keeps it for a companion: nobody learns what others have. */
export function unusableAgent(): AppError {
  const detail = "The account may not use this agent: the operator of the server grants agents to accounts.";
  return invalidFields([{ param: "voice_agent_id", detail }]);
}

/**
 * An agent's id as operators write it; the provider's have no white space, a careless copy of one may. `..` in the path
 * of a grant would lead every client to the account instead, which is deleted in the same way.
 */
export const agentIdPattern = "^(?!\\.{1,2}$)\\S{1,200}$";

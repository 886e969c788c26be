/** The rules for a companion's voice fields, checked twice: with the rest of the request, and in the commit. */
import type { CompanionSettings } from "./companion.ts";
import { type AppError, invalidFields } from "./errors.ts";

export type VoiceFields = Pick<CompanionSettings, "voiceId" | "voiceAgentId">;

/** Throws `invalid_request` if both are set. */
export function requireOneVoice({ voiceId, voiceAgentId }: VoiceFields): void {
  if (voiceId === null || voiceAgentId === null) return;
  const detail = "Set voice_id or voice_agent_id, not both.";
  throw invalidFields([
    { param: "voice_id", detail },
    { param: "voice_agent_id", detail },
  ]);
}

/**
 * The same error whether there is no such agent or the server keeps it for a companion, so that no one learns what
 * others have.
 */
export function unusableAgent(): AppError {
  const detail = "The account may not use this agent: the server's operator grants agents to accounts.";
  return invalidFields([{ param: "voice_agent_id", detail }]);
}

/**
 * An agent's id as operators type it. The provider's ids contain no white space, but a careless copy may. `..` in the
 * path of a grant would make every client address the account instead, which is deleted the same way.
 */
export const agentIdPattern = "^(?!\\.{1,2}$)\\S{1,200}$";

/** Agents at the voice provider that operators let accounts use: one provider key serves all accounts. */
import type { WriteContext } from "./write-context.ts";

export interface VoiceAgentGrant {
  agentId: string;
  /** How many companions of the account name it. */
  companions: number;
  createdAt: number;
}

/** An operator's own account may use every agent that the server does not manage, and needs no grant. */
export interface VoiceAgentGrantStore {
  /** Of one account, newest first; there are as many as an operator makes by hand. */
  list(accountId: string): Promise<VoiceAgentGrant[]>;
  /** How many companions of the account name the agent, whether it has a grant or not. */
  countCompanions(accountId: string, agentId: string): Promise<number>;
  /**
   * From now on companions of the account may name the agent, and those that do already have their voice. Any number of
   * accounts may have the same one. Rejects with `invalid_request` naming `agent_id` where the account has it already,
   * or where the server manages it for a companion. Audit: `voice_agent.grant`.
   */
  grant(accountId: string, agentId: string, context: WriteContext): Promise<VoiceAgentGrant>;
  /**
   * Companions of the account that name the agent keep their field, and have no voice from the next embed request on.
   * Resolves with the grant as it was; null where there is none. Audit: `voice_agent.revoke`.
   */
  revoke(accountId: string, agentId: string, context: WriteContext): Promise<VoiceAgentGrant | null>;
}

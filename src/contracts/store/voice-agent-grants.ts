/** Agents at the voice provider that operators let accounts use: one provider key serves all accounts. */
import type { WriteContext } from "./write-context.ts";

export interface VoiceAgentGrant {
  agentId: string;
  /** Companions of the account that use it. */
  companions: number;
  createdAt: number;
}

/** An operator's own account may use every agent that the server does not manage, without a grant. */
export interface VoiceAgentGrantStore {
  /** The grants of one account, newest first, without paging: operators create them by hand. */
  list(accountId: string): Promise<VoiceAgentGrant[]>;
  /** How many companions of the account name the agent, whether it has a grant or not. */
  countCompanions(accountId: string, agentId: string): Promise<number>;
  /**
   * Lets companions of the account use the agent; those that already name it get their voice. Any number of accounts
   * may have the same agent. Rejects with `invalid_request` naming `agent_id` if the account already has it, or if the
   * server manages it for a companion. Audit: `voice_agent.grant`.
   */
  grant(accountId: string, agentId: string, context: WriteContext): Promise<VoiceAgentGrant>;
  /**
   * Companions of the account that name the agent keep the field, but have no voice from the next embed request on.
   * Resolves with the revoked grant; null if there is none. Audit: `voice_agent.revoke`.
   */
  revoke(accountId: string, agentId: string, context: WriteContext): Promise<VoiceAgentGrant | null>;
}

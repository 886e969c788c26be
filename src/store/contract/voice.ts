import type { Message } from "../../domain/conversation.ts";

/** The provider agent that the server keeps for a companion with a `voice_id`. */
export interface VoiceAgent {
  companionId: string;
  provider: string;
  agentId: string;
  /** Digest of the settings that the agent was last given. */
  settingsHash: string;
}

/** A started voice session, matched by the provider's conversation id when its transcript arrives. */
export interface VoiceSession {
  providerConversationId: string;
  companionId: string;
  accountId: string;
  sessionId: string | null;
  visitorId: string | null;
  createdAt: number;
}

/** A provider call that must still be made: deleting an agent. Survives a restart. */
export interface VoiceOutboxItem {
  id: string;
  provider: string;
  agentId: string;
  attempts: number;
  dueAt: number;
}

export interface VoiceStore {
  findAgent(companionId: string): Promise<VoiceAgent | null>;
  /** Whether some companion of any account has this agent managed by the server. */
  isManagedAgent(agentId: string): Promise<boolean>;
  /**
   * Takes the right to make or update the companion's agent until `untilMs`: true for exactly one caller at a time,
   * over all processes. `releaseAgent` or the time ends it.
   */
  lockAgent(companionId: string, owner: string, nowMs: number, untilMs: number): Promise<boolean>;
  releaseAgent(companionId: string, owner: string): Promise<void>;
  /** Keeps the agent; a replaced one of another id goes to the outbox. */
  saveAgent(agent: VoiceAgent, outboxId: string, nowMs: number): Promise<void>;
  /** Forgets the agent and puts its deletion into the outbox (`voice_id` cleared). */
  dropAgent(companionId: string, outboxId: string, nowMs: number): Promise<void>;

  /** The account that an owner's own agent is bound to, or null. */
  findAgentAccount(agentId: string): Promise<string | null>;

  listDueOutbox(nowMs: number, limit: number): Promise<VoiceOutboxItem[]>;
  finishOutbox(id: string): Promise<void>;
  postponeOutbox(id: string, dueAt: number): Promise<void>;

  /** Keeps the session, counts it in the day's usage, in one commit. */
  startSession(session: VoiceSession, keyId: string | null, day: string): Promise<void>;
  findSession(providerConversationId: string): Promise<VoiceSession | null>;
  /**
   * Adds a transcript to the conversation of the session, once: false when it was taken already or the session is
   * unknown. `conversationId` is used when the conversation is new.
   */
  addTranscript(
    providerConversationId: string,
    conversationId: string,
    messages: readonly Omit<Message, "inputTokens" | "outputTokens" | "tokensEstimated">[],
  ): Promise<boolean>;
}

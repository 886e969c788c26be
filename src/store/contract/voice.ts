/** What voice sessions need to remember: agents at the provider, sessions, and calls still to be made. */
import type { MessageRole } from "../../domain/conversation.ts";

/** The provider agent that the server keeps for a companion with a `voiceId`. */
export interface VoiceAgent {
  companionId: string;
  provider: string;
  agentId: string;
  /** Digest of the settings that the agent was last given. */
  settingsHash: string;
}

/** A voice session that was handed out. */
export interface NewVoiceSession {
  /** The provider's id of the coming conversation, by which its transcript is matched; null where it gave none: the session is counted only. */
  providerConversationId: string | null;
  accountId: string;
  companionId: string;
  /** Lower case. */
  sessionId: string;
  /** Lower case, or null. */
  visitorId: string | null;
  /** The key that made the companion, under which usage counts; null for the dashboard. */
  keyId: string | null;
  /** UTC day of admission, under which quota and usage count. */
  day: string;
  createdAt: number;
}

export interface VoiceSession {
  companionId: string;
  sessionId: string;
  visitorId: string | null;
  createdAt: number;
}

/** One spoken message; kept with channel `voice` and without token counts. */
export interface TranscriptMessage {
  id: string;
  role: MessageRole;
  text: string;
  /** False where the speaker was interrupted. */
  complete: boolean;
  createdAt: number;
}

/**
 * An agent that must still be deleted at its provider; survives a restart. (provider, agentId) is its key: putting the
 * same agent in again changes nothing.
 */
export interface VoiceOutboxItem {
  provider: string;
  agentId: string;
  /** How often it was taken, this time included. */
  attempts: number;
}

export interface VoiceStore {
  findAgent(companionId: string): Promise<VoiceAgent | null>;
  /**
   * Whether a companion of the account may name this agent: an operator granted it, or the account is an operator's;
   * and the server neither manages it for any companion of any account nor has yet to delete it.
   */
  canUseAgent(accountId: string, agentId: string): Promise<boolean>;

  /**
   * Takes the right to make or update the companion's agent until `untilMs`: true for exactly one owner at a time, over
   * all processes on the database. False while another owner's time runs. `unlockAgent` or the time ends it.
   */
  lockAgent(companionId: string, owner: string, nowMs: number, untilMs: number): Promise<boolean>;
  /** Does nothing where `owner` does not hold it. */
  unlockAgent(companionId: string, owner: string): Promise<void>;
  /**
   * Keeps the agent; a replaced one with another id goes to the outbox, due at once. Where the companion is gone, has
   * no `voiceId` any more, or `owner` no longer holds the lock, the given agent itself goes to the outbox (unless it is
   * the one already kept) and the answer is false.
   */
  saveAgent(agent: VoiceAgent, owner: string, nowMs: number): Promise<boolean>;

  /**
   * Takes up to `limit` items that are due, oldest first, and makes them due again at `untilMs`: no item goes to two
   * takers before that, over all processes. With nothing due it is a read only.
   */
  takeDueOutbox(nowMs: number, untilMs: number, limit: number): Promise<VoiceOutboxItem[]>;
  finishOutbox(provider: string, agentId: string): Promise<void>;
  postponeOutbox(provider: string, agentId: string, dueAt: number): Promise<void>;

  /**
   * Keeps the session and counts it in the day's usage and quota, in one commit. A companion that was deleted meanwhile
   * leaves usage only.
   */
  startSession(session: NewVoiceSession): Promise<void>;
  /** Sessions that count against the day's quota so far. */
  countDay(companionId: string, day: string): Promise<number>;
  /** Null where unknown, erased with its visitor or companion, or forgotten. */
  findSession(providerConversationId: string): Promise<VoiceSession | null>;
  /**
   * Adds the transcript to the session's conversation, once: false when it was taken before (however many deliveries
   * arrive at once, over all processes) or when the session is unknown. An empty transcript is taken too, and makes no
   * conversation. Messages take their place among the text ones by `createdAt`. `conversationId` is used when the
   * conversation is new.
   */
  addTranscript(
    providerConversationId: string,
    conversationId: string,
    messages: readonly TranscriptMessage[],
  ): Promise<boolean>;
  /** Forgets sessions made before `beforeMs`, up to `limit`; returns how many. Their transcripts are not taken any more. */
  deleteSessions(beforeMs: number, limit: number): Promise<number>;
}

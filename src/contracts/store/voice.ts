/** What voice stores: agents at the provider, sessions, and pending deletions. */
import type { MessageRole } from "../../domain/conversation.ts";
import type { Cost } from "../../domain/money.ts";
import type { TicketId } from "../coordination.ts";
import type { ReachedBudget } from "./spending.ts";

/** The provider agent that the server keeps for a companion with a `voiceId`. */
export interface VoiceAgent {
  companionId: string;
  provider: string;
  agentId: string;
  /** Digest of the settings last sent to the agent. */
  settingsHash: string;
}

/** A voice session that was handed out. */
export interface NewVoiceSession {
  /** Of the session's slot in the day's quota. */
  ticketId: TicketId;
  /**
   * The provider's id of the conversation, which matches its transcript; null if unknown: then the session is only
   * counted.
   */
  providerConversationId: string | null;
  accountId: string;
  companionId: string;
  /** In lower case. */
  sessionId: string;
  /** As in `ConversationKey`. */
  visitorId: string | null;
  /** What is known of a verified visitor; it goes to the conversation with the transcript. Null for others. */
  sealedVisitor: string | null;
  /** The key that created the companion, for usage; null for the dashboard. */
  keyId: string | null;
  /** UTC day of admission, for quota and usage. */
  day: string;
  /** What it may cost; null where nothing is reserved. */
  reservationId: string | null;
  createdAt: number;
}

export interface VoiceSession {
  companionId: string;
  sessionId: string;
  visitorId: string | null;
  createdAt: number;
}

/** One spoken message; stored with channel `voice` and without token counts. */
export interface TranscriptMessage {
  id: string;
  role: MessageRole;
  text: string;
  /** False if the speaker was interrupted. */
  complete: boolean;
  createdAt: number;
}

/**
 * An agent that must still be deleted at its provider; survives a restart. Its key is (provider, agentId): adding the
 * same agent again changes nothing.
 */
export interface VoiceOutboxItem {
  provider: string;
  agentId: string;
  /** How often it was claimed, including this time. */
  attempts: number;
}

/** What a session has cost, reported with its transcript. */
export interface SpokenCost {
  cost: Cost;
  /** Of the provider, as usage names it. */
  provider: string;
  atMs: number;
}

export interface VoiceStore {
  findAgent(companionId: string): Promise<VoiceAgent | null>;
  /**
   * Whether a companion of the account may use this agent: an operator granted it, or the account is an operator's; and
   * the server neither manages it for a companion of any account nor still has to delete it.
   */
  canUseAgent(accountId: string, agentId: string): Promise<boolean>;

  /**
   * Locks the companion's agent for creating or updating until `untilMs`: true for exactly one owner at a time, across
   * all processes on the database; false while another owner holds it. Ends with `unlockAgent` or at that time.
   */
  lockAgent(companionId: string, owner: string, nowMs: number, untilMs: number): Promise<boolean>;
  /** Does nothing if `owner` does not hold the lock. */
  unlockAgent(companionId: string, owner: string): Promise<void>;
  /**
   * Stores the agent; a replaced one with a different id goes to the outbox, due immediately. If the companion is deleted
   * or no longer has a `voiceId`, or `owner` no longer holds the lock, the given agent itself goes to the outbox
   * (unless it is the stored one), and the result is false.
   */
  saveAgent(agent: VoiceAgent, owner: string, nowMs: number): Promise<boolean>;

  /**
   * Takes up to `limit` due items, oldest first, and makes them due again at `untilMs`: until then no other taker gets
   * them, across all processes. Only reads if nothing is due.
   */
  takeDueOutbox(nowMs: number, untilMs: number, limit: number): Promise<VoiceOutboxItem[]>;
  finishOutbox(provider: string, agentId: string): Promise<void>;
  postponeOutbox(provider: string, agentId: string, dueAt: number): Promise<void>;

  /**
   * Stores the session and counts it in the day's usage and quota, in one commit. If the companion was deleted
   * meanwhile, only usage is stored.
   */
  startSession(session: NewVoiceSession): Promise<void>;
  /** Sessions counted in the day's quota so far. */
  countDay(companionId: string, day: string): Promise<number>;
  /** Null if unknown, erased with its visitor or companion, or deleted by age. */
  findSession(providerConversationId: string): Promise<VoiceSession | null>;
  /**
   * Adds the transcript to the session's conversation once: false if it was added before (however many deliveries
   * arrive at the same time, across all processes), or if the session is unknown. An empty transcript is accepted too, but
   * creates no conversation. Messages are ordered among the text ones by `createdAt`. `conversationId` is used if the
   * conversation is new.
   *
   * With a `spoken`, its cost is counted in the same commit: in usage under the session's day and key, and in budgets,
   * where it ends the session's reservation. Without one, a reservation stays until it is due.
   */
  addTranscript(
    providerConversationId: string,
    conversationId: string,
    messages: readonly TranscriptMessage[],
    spoken: SpokenCost | null,
  ): Promise<{ isAdded: boolean; reached: readonly ReachedBudget[] }>;
  /**
   * Deletes up to `limit` sessions created before `beforeMs`; returns how many. Their transcripts are no longer
   * accepted.
   */
  deleteSessions(beforeMs: number, limit: number): Promise<number>;
}

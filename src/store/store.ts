/**
 * Socket 1: everything durable. One interface per resource; `sqlite/` is the engine, and the suite in
 * `test/contracts/store-*.ts` checks every engine.
 *
 * These rules hold for every method:
 * - Asynchronous, so that a networked engine fits. A resolved write is durable, whatever crashes, and visible to all.
 * - A write is one transaction: after a failure nothing of it remains. Writes that arrive together may share a commit.
 * - Rejects with `AppError("unavailable")` if storage is full, missing, or locked by another process for over 5 s;
 *   never blocks the event loop for more than 50 ms at a time. Any other rejection is a defect.
 * - Timestamps (epoch milliseconds) and ids come from the caller: the engine has no clock and no random source.
 * - Whatever an account owns is only reachable *through* that account: a method takes the `accountId`, and another
 *   account's row is treated like a missing one.
 */
import type { AccountStore } from "./contract/accounts.ts";
import type { ApiKeyStore } from "./contract/api-keys.ts";
import type { AuditStore } from "./contract/audit.ts";
import type { ChallengeStore } from "./contract/challenges.ts";
import type { CompanionStore } from "./contract/companions.ts";
import type { ConversationStore } from "./contract/conversations.ts";
import type { EmbedTokenStore } from "./contract/embed-tokens.ts";
import type { IdempotencyStore } from "./contract/idempotency.ts";
import type { KnowledgeStore } from "./contract/knowledge.ts";
import type { SecondFactorStore, ServerSecretStore } from "./contract/second-factors.ts";
import type { SessionStore } from "./contract/sessions.ts";
import type { SpendingStore } from "./contract/spending.ts";
import type { TurnStore } from "./contract/turns.ts";
import type { UnansweredStore } from "./contract/unanswered.ts";
import type { UsageStore } from "./contract/usage.ts";
import type { VisitorKeyStore } from "./contract/visitor-keys.ts";
import type { VoiceStore } from "./contract/voice.ts";
import type { VoiceAgentGrantStore } from "./contract/voice-agent-grants.ts";

export interface Store {
  readonly accounts: AccountStore;
  readonly apiKeys: ApiKeyStore;
  readonly audit: AuditStore;
  readonly challenges: ChallengeStore;
  readonly companions: CompanionStore;
  readonly conversations: ConversationStore;
  readonly embedTokens: EmbedTokenStore;
  readonly idempotency: IdempotencyStore;
  readonly knowledge: KnowledgeStore;
  readonly secondFactors: SecondFactorStore;
  readonly serverSecrets: ServerSecretStore;
  readonly sessions: SessionStore;
  readonly spending: SpendingStore;
  readonly turns: TurnStore;
  readonly unanswered: UnansweredStore;
  readonly usage: UsageStore;
  readonly visitorKeys: VisitorKeyStore;
  readonly voice: VoiceStore;
  readonly voiceAgentGrants: VoiceAgentGrantStore;

  /** Resolves if a trivial read works; rejects with `unavailable` otherwise. For `/readyz`. */
  check(): Promise<void>;
  /** Finishes accepted writes, then closes. Idempotent. Later calls reject with `unavailable`. */
  close(): Promise<void>;
}

export type * from "./contract/accounts.ts";
export type * from "./contract/api-keys.ts";
export type * from "./contract/audit.ts";
export type * from "./contract/challenges.ts";
export type * from "./contract/companions.ts";
export type * from "./contract/conversations.ts";
export type * from "./contract/editions.ts";
export type * from "./contract/embed-tokens.ts";
export type * from "./contract/idempotency.ts";
export type * from "./contract/knowledge.ts";
export type * from "./contract/page.ts";
export type * from "./contract/second-factors.ts";
export type * from "./contract/sessions.ts";
export type * from "./contract/spending.ts";
export type * from "./contract/turns.ts";
export type * from "./contract/unanswered.ts";
export type * from "./contract/usage.ts";
export type * from "./contract/visitor-keys.ts";
export type * from "./contract/voice.ts";
export type * from "./contract/voice-agent-grants.ts";
export type * from "./contract/write-context.ts";

/**
 * Everything durable. One interface per resource; `sqlite/` is the engine, and the suite in
 * `test/contracts/store-*.ts` checks every engine.
 *
 * These rules hold for every method:
 * - Asynchronous, so that a networked engine fits. A resolved write is durable, even through crashes, and visible to all.
 *   An engine may show it to others a little earlier, while it waits for the disk (SQLite: for the length of one sync, a
 *   few milliseconds). If power fails then, or the sync does, they have seen what never was: a caller who must not is to
 *   wait for a write of its own, which resolves after all that it could have seen.
 * - A write is one transaction: after a failure nothing of it remains. Writes that arrive together may share a commit.
 * - Rejects with `AppError("unavailable")` if storage is full, missing, or locked by another process for over 5 s;
 *   never blocks the event loop for more than 50 ms at a time. Any other rejection is a defect.
 * - Timestamps (epoch milliseconds) and ids come from the caller: the engine has no clock and no random source.
 * - What an account owns is only reachable *through* that account: a method takes the `accountId`, and another
 *   account's row is treated like a missing one.
 */
import type { AccountStore } from "./accounts.ts";
import type { ApiKeyStore } from "./api-keys.ts";
import type { AuditStore } from "./audit.ts";
import type { ChallengeStore } from "./challenges.ts";
import type { CompanionSetStore } from "./companion-sets.ts";
import type { CompanionStore } from "./companions.ts";
import type { ConversationStore } from "./conversations.ts";
import type { DraftStore } from "./drafts.ts";
import type { EmbedTokenStore } from "./embed-tokens.ts";
import type { FeedbackStore } from "./feedback.ts";
import type { HandoffStore } from "./handoffs.ts";
import type { IdempotencyStore } from "./idempotency.ts";
import type { InsightsStore } from "./insights.ts";
import type { KnowledgeStore } from "./knowledge.ts";
import type { MailStore } from "./mails.ts";
import type { MemberStore } from "./members.ts";
import type { SecondFactorStore, ServerSecretStore } from "./second-factors.ts";
import type { SessionStore } from "./sessions.ts";
import type { SpendingStore } from "./spending.ts";
import type { ToolCallStore } from "./tool-calls.ts";
import type { ToolStore } from "./tools.ts";
import type { TurnStore } from "./turns.ts";
import type { UnansweredStore } from "./unanswered.ts";
import type { UsageStore } from "./usage.ts";
import type { VersionStore } from "./versions.ts";
import type { VisitorKeyStore } from "./visitor-keys.ts";
import type { VoiceStore } from "./voice.ts";
import type { VoiceAgentGrantStore } from "./voice-agent-grants.ts";
import type { WebhookStore } from "./webhooks.ts";

export interface Store {
  readonly accounts: AccountStore;
  readonly apiKeys: ApiKeyStore;
  readonly audit: AuditStore;
  readonly challenges: ChallengeStore;
  readonly companions: CompanionStore;
  readonly companionSets: CompanionSetStore;
  readonly conversations: ConversationStore;
  readonly drafts: DraftStore;
  readonly embedTokens: EmbedTokenStore;
  readonly feedback: FeedbackStore;
  readonly handoffs: HandoffStore;
  readonly insights: InsightsStore;
  readonly idempotency: IdempotencyStore;
  readonly knowledge: KnowledgeStore;
  readonly members: MemberStore;
  readonly mails: MailStore;
  readonly secondFactors: SecondFactorStore;
  readonly serverSecrets: ServerSecretStore;
  readonly sessions: SessionStore;
  readonly spending: SpendingStore;
  readonly toolCalls: ToolCallStore;
  readonly tools: ToolStore;
  readonly turns: TurnStore;
  readonly unanswered: UnansweredStore;
  readonly usage: UsageStore;
  readonly versions: VersionStore;
  readonly visitorKeys: VisitorKeyStore;
  readonly voice: VoiceStore;
  readonly voiceAgentGrants: VoiceAgentGrantStore;
  readonly webhooks: WebhookStore;

  /** Resolves if a trivial read works; rejects with `unavailable` otherwise. For `/readyz`. */
  check(): Promise<void>;
  /** Finishes accepted writes, then closes. Idempotent. Later calls reject with `unavailable`. */
  close(): Promise<void>;
}

export type * from "./accounts.ts";
export type * from "./api-keys.ts";
export type * from "./audit.ts";
export type * from "./challenges.ts";
export type * from "./companion-sets.ts";
export type * from "./companions.ts";
export type * from "./conversations.ts";
export type * from "./drafts.ts";
export type * from "./editions.ts";
export type * from "./embed-tokens.ts";
export type * from "./feedback.ts";
export type * from "./handoffs.ts";
export type * from "./idempotency.ts";
export type * from "./insights.ts";
export type * from "./knowledge.ts";
export type * from "./mails.ts";
export type * from "./members.ts";
export type * from "./page.ts";
export type * from "./second-factors.ts";
export type * from "./sessions.ts";
export type * from "./spending.ts";
export type * from "./tool-calls.ts";
export type * from "./tools.ts";
export type * from "./turns.ts";
export type * from "./unanswered.ts";
export type * from "./usage.ts";
export type * from "./versions.ts";
export type * from "./visitor-keys.ts";
export type * from "./voice.ts";
export type * from "./voice-agent-grants.ts";
export type * from "./webhooks.ts";
export type * from "./write-context.ts";

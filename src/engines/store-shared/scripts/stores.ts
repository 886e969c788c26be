/** The store as far as it is the same in every engine: put together from its scripts, and from what the engine brings. */
import type { NewEvent, Store } from "../../../contracts/store/store.ts";
import { createAccountStore } from "./accounts.ts";
import { createApiKeyStore, type KeyLookups } from "./api-keys.ts";
import { createChallengeStore } from "./challenges.ts";
import { createAuditStore, createIdempotencyStore } from "./changes.ts";
import { createCompanionSetStore } from "./companion-sets.ts";
import { type CompanionParts, createCompanionWriter } from "./companion-writes.ts";
import { createDraftStore } from "./drafts.ts";
import { createEmbedTokenStore } from "./embed-tokens.ts";
import type { DeliveryBell } from "./event-deliveries.ts";
import { createFeedbackStore } from "./feedback.ts";
import type { RevisionParts } from "./handoffs.ts";
import { createInsightsStore } from "./insights.ts";
import { createKnowledgeStore, type OwnKnowledge } from "./knowledge.ts";
import { createKnowledgeSources } from "./knowledge-sources.ts";
import { createKnowledgeUploads } from "./knowledge-uploads.ts";
import { createMailStore, MailBell } from "./mails.ts";
import { createMemberStore } from "./members.ts";
import { createHandoffStore } from "./people.ts";
import type { Script, ScriptRunner } from "./script.ts";
import { createSecondFactorStore, createServerSecretStore } from "./second-factors.ts";
import { createSessionStore, type RecordLastUses, type SessionLookup } from "./sessions.ts";
import { createSourceWriter, type SourceRemover } from "./source-writes.ts";
import { createSpendingStore, type SpendingParts } from "./spending.ts";
import { type CallRemover, createToolCallStore } from "./tool-calls.ts";
import { createToolStore } from "./tools.ts";
import { createUnansweredStore, type OwnUnanswered } from "./unanswered.ts";
import { createVersionStore } from "./version-store.ts";
import { createVisitorKeyStore, type VisitorKeyLookups } from "./visitor-keys.ts";
import { createVoiceStore, type VoiceCounting } from "./voice.ts";
import { createVoiceAgentGrantStore } from "./voice-agents.ts";
import { createWebhookStore } from "./webhooks.ts";

/** What each engine does differently. */
export interface OwnParts {
  readonly removals: { start(): void };
  readonly bell: DeliveryBell;
  readonly sourceRemover: SourceRemover;
  readonly callRemover: CallRemover;
  readonly companionParts: CompanionParts;
  readonly knowledge: OwnKnowledge;
  readonly keyLookups: KeyLookups;
  readonly visitorKeyLookups: VisitorKeyLookups;
  readonly sessionLookup: SessionLookup;
  readonly recordLastUses: RecordLastUses;
  readonly spending: SpendingParts;
  readonly unanswered: OwnUnanswered;
  readonly voice: VoiceCounting;
  readonly handoffs: Omit<RevisionParts, "emit" | "mailBell">;
  /** The text of a query: conversations of an account by their last change, see `createInsightsStore`. */
  readonly selectUpdated: string;
  readonly emit: (events: readonly NewEvent[], conversationId: string) => Script<unknown>;
}

export function createSharedStores(scripts: ScriptRunner, own: OwnParts) {
  const { removals, recordLastUses, emit } = own;
  const uploads = createKnowledgeUploads(scripts, removals);
  const writer = createSourceWriter({ uploads, remover: own.sourceRemover });
  const companionWriter = createCompanionWriter(own.companionParts, writer);
  const ofSources = { uploads, remover: own.sourceRemover, removals, writer };
  const sources = createKnowledgeSources(scripts, ofSources);
  const mailBell = new MailBell();
  const knowledge = createKnowledgeStore(scripts, sources, ofSources, own.knowledge);
  const stores = {
    accounts: createAccountStore(scripts, removals),
    apiKeys: createApiKeyStore(scripts, own.keyLookups),
    audit: createAuditStore(scripts),
    challenges: createChallengeStore(scripts),
    companionSets: createCompanionSetStore(scripts, companionWriter, removals),
    drafts: createDraftStore(scripts, companionWriter),
    embedTokens: createEmbedTokenStore(scripts, recordLastUses),
    feedback: createFeedbackStore(scripts, emit),
    handoffs: createHandoffStore(scripts, { ...own.handoffs, emit, mailBell }),
    idempotency: createIdempotencyStore(scripts),
    insights: createInsightsStore(scripts, own.selectUpdated),
    knowledge,
    members: createMemberStore(scripts),
    mails: createMailStore(scripts, mailBell),
    secondFactors: createSecondFactorStore(scripts),
    serverSecrets: createServerSecretStore(scripts),
    sessions: createSessionStore(scripts, recordLastUses, own.sessionLookup),
    spending: createSpendingStore(scripts, own.spending),
    toolCalls: createToolCallStore(scripts, own.callRemover),
    tools: createToolStore(scripts),
    unanswered: createUnansweredStore(scripts, { sources, readPassages: knowledge.readPassages }, own.unanswered),
    versions: createVersionStore(scripts, companionWriter),
    visitorKeys: createVisitorKeyStore(scripts, own.visitorKeyLookups),
    voice: createVoiceStore(scripts, own.voice),
    voiceAgentGrants: createVoiceAgentGrantStore(scripts),
    webhooks: createWebhookStore(scripts, own.bell, removals),
  } satisfies Partial<Store>;
  return { stores, companionWriter };
}

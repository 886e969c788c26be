/** Opens the SQLite store: migrated, with all its parts. */
import type { ErasureMarks } from "../../contracts/coordination.ts";
import type { NewEvent, Store } from "../../contracts/store/store.ts";
import type { Log } from "../../lib/log.ts";
import { createAccountStore } from "../store-shared/scripts/accounts.ts";
import { createApiKeyStore } from "../store-shared/scripts/api-keys.ts";
import { createChallengeStore } from "../store-shared/scripts/challenges.ts";
import { changes as changeScripts, createAuditStore, createIdempotencyStore } from "../store-shared/scripts/changes.ts";
import { createCompanionSetStore } from "../store-shared/scripts/companion-sets.ts";
import { createCompanionWriter } from "../store-shared/scripts/companion-writes.ts";
import { createDraftStore } from "../store-shared/scripts/drafts.ts";
import { createEmbedTokenStore } from "../store-shared/scripts/embed-tokens.ts";
import { createFeedbackStore } from "../store-shared/scripts/feedback.ts";
import { createInsightsStore } from "../store-shared/scripts/insights.ts";
import { createKnowledgeStore } from "../store-shared/scripts/knowledge.ts";
import { createKnowledgeSources } from "../store-shared/scripts/knowledge-sources.ts";
import { createKnowledgeUploads } from "../store-shared/scripts/knowledge-uploads.ts";
import { createMailStore, MailBell } from "../store-shared/scripts/mails.ts";
import { createMemberStore } from "../store-shared/scripts/members.ts";
import { createHandoffStore } from "../store-shared/scripts/people.ts";
import { part } from "../store-shared/scripts/script.ts";
import { createSecondFactorStore, createServerSecretStore } from "../store-shared/scripts/second-factors.ts";
import { createSessionStore } from "../store-shared/scripts/sessions.ts";
import { createSourceWriter } from "../store-shared/scripts/source-writes.ts";
import { createSpendingStore } from "../store-shared/scripts/spending.ts";
import { DeliveryBell } from "../store-shared/scripts/told-events.ts";
import { createCallRemovals, createToolCallStore } from "../store-shared/scripts/tool-calls.ts";
import { createToolStore } from "../store-shared/scripts/tools.ts";
import { versionRemovals } from "../store-shared/scripts/version-room.ts";
import { createVersionStore } from "../store-shared/scripts/version-store.ts";
import { createVisitorKeyStore } from "../store-shared/scripts/visitor-keys.ts";
import { createVoiceStore } from "../store-shared/scripts/voice.ts";
import { createVoiceAgentGrantStore, voiceAgents as voiceAgentScripts } from "../store-shared/scripts/voice-agents.ts";
import { createWebhookStore } from "../store-shared/scripts/webhooks.ts";
import { createCallEraser } from "./call-eraser.ts";
import { createCompanionParts, createCompanionStore } from "./companions.ts";
import { databasePath, openConnection, openMemoryConnection } from "./connection.ts";
import { conversationWalkQueries } from "./conversation-reader.ts";
import { createConversationWriter } from "./conversation-writer.ts";
import { createConversationStore } from "./conversations.ts";
import type { StoreDatabase, StoreObserver } from "./database.ts";
import { SqliteEngine } from "./engine.ts";
import { createEventWriter } from "./events.ts";
import { createExchanges } from "./exchanges.ts";
import { createKnowledgeEditions } from "./knowledge-editions.ts";
import { createKnowledgeIndex } from "./knowledge-index.ts";
import { createPassageReader } from "./knowledge-passages.ts";
import { createKnowledgeQueue } from "./knowledge-queue.ts";
import { createKnowledgeRemover, toSourceRemover } from "./knowledge-removal.ts";
import { createMessageEraser } from "./message-eraser.ts";
import { createMetadataIndex } from "./metadata-index.ts";
import { type MigrateOptions, migrateDatabase } from "./migrator.ts";
import { createKeyLookups, createLastUses, createSessionLookup } from "./principals.ts";
import { createQuotaCounts } from "./quota.ts";
import { requireReleasedFile } from "./released.ts";
import { createRemovals } from "./removals.ts";
import { findDifferences } from "./schema-differences.ts";
import { createSqliteScripts } from "./scripts.ts";
import { createSpendingParts } from "./spending.ts";
import { createSpendingLedger } from "./spending-ledger.ts";
import { settleLeftSpending } from "./spending-left.ts";
import { createTurnStore } from "./turns.ts";
import { createUnansweredStore } from "./unanswered.ts";
import { createUsageStore } from "./usage.ts";
import { createUsageWriter } from "./usage-writer.ts";
import { createVisitorDays } from "./visitor-days.ts";
import { createVisitorKeyLookups } from "./visitor-keys.ts";
import { createVoiceCounting } from "./voice.ts";

export interface SqliteStoreOptions extends MigrateOptions {
  log: Log;
  erasures: ErasureMarks;
  /** Counts statements and commits, for tests and benchmarks. */
  observer?: StoreObserver;
  /** Replaced in tests. */
  lockLimitMs?: number;
  /** Called once, when it can no longer be known what is on disk: the process has to end. */
  onLost?: ((error: unknown) => void) | undefined;
  /** For a server, at its start: what the one before had reserved is settled at its worst case. Null: it is left. */
  settlesLeftAtMs?: number | null;
}

export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  requireReleasedFile(databasePath(options.dataDir));
  const database = await openConnection(options.dataDir);
  try {
    const applied = await migrateDatabase(database, options);
    if (applied.length > 0) options.log.info("database migrated", { migrations: applied });
  } catch (error) {
    database.closeWithStatements();
    throw error;
  }
  if (options.settlesLeftAtMs != null) tellDifferences(database, options.log);
  if (options.observer !== undefined) database.watch(options.observer);
  const engine = new SqliteEngine(database, {
    ...options,
    onCheckpointProblem: (error) => options.log.warn("the write-ahead log was not copied into the database", { error }),
  });
  if (options.settlesLeftAtMs != null) await settleLeftSpending(engine, options.settlesLeftAtMs, options.log);
  return createStore(engine, options);
}

/** An empty store in no file, which is gone once it is closed. */
export async function openMemoryStore(options: Pick<SqliteStoreOptions, "log" | "erasures">): Promise<Store> {
  const database = openMemoryConnection();
  await migrateDatabase(database, { dataDir: "" });
  return createStore(new SqliteEngine(database), options);
}

/** Operators who change tables by hand, or serve a development build's data, find the reason of later failures here. */
function tellDifferences(database: StoreDatabase, log: Log): void {
  const { changed, added } = findDifferences(database);
  if (changed.length + added.length > 0) log.warn("tables are not as this version makes them", { changed, added });
}

type StoreParts = Pick<SqliteStoreOptions, "log" | "erasures" | "settlesLeftAtMs">;

function createStore(engine: SqliteEngine, { erasures, log, settlesLeftAtMs = null }: StoreParts): Store {
  const isServer = settlesLeftAtMs !== null;
  const scripts = createSqliteScripts(engine);
  const changes = scripts.bind(changeScripts);
  const usage = createUsageWriter(engine);
  const quota = createQuotaCounts(engine);
  const metadata = createMetadataIndex(engine, "companion_metadata");
  const voiceAgents = scripts.bind(voiceAgentScripts);
  const bell = new DeliveryBell();
  const events = createEventWriter(engine, bell);
  const conversations = createConversationWriter(engine);
  const eraser = createMessageEraser(engine);
  const exchanges = createExchanges(engine, conversations, eraser);
  const visitorDays = createVisitorDays(engine);
  const knowledge = createKnowledgeRemover(engine);
  const eraseCalls = createCallEraser(engine);
  const calls = scripts.bind(createCallRemovals(eraseCalls));
  const versions = scripts.bind(versionRemovals);
  const removals = createRemovals(engine, { calls, eraser, knowledge, versions, visitorDays, voiceAgents, log });
  const shared = {
    calls,
    changes,
    conversations,
    eraser,
    erasures,
    events,
    exchanges,
    knowledge,
    metadata,
    removals,
    scripts,
    ...{ quota, usage, visitorDays, spending: createSpendingLedger(engine, usage, events) },
  };
  const uploads = createKnowledgeUploads(scripts, removals);
  const remover = toSourceRemover(knowledge, removals.add);
  const writer = createSourceWriter({ uploads, remover });
  const companionWriter = createCompanionWriter(createCompanionParts(shared), writer);
  const ofSources = { uploads, remover, removals, writer };
  const sources = createKnowledgeSources(scripts, ofSources);
  const passages = createPassageReader(engine);
  const checkRead = engine.query<{ one: number }>("SELECT 1 AS one FROM accounts LIMIT 1");

  const recordLastUses = createLastUses(engine);

  const mailBell = new MailBell();
  const tell = (told: readonly NewEvent[], id: string) =>
    part(() => {
      for (const event of told) events.tell(event, id);
    });

  // Continue deletions that an earlier process left unfinished.
  removals.resume();
  return {
    accounts: createAccountStore(scripts, removals),
    apiKeys: createApiKeyStore(scripts, createKeyLookups(engine, usage)),
    audit: createAuditStore(scripts),
    challenges: createChallengeStore(scripts),
    knowledge: createKnowledgeStore(scripts, sources, ofSources, {
      readPassages: passages.readPassages,
      listPassages: passages.listPassages,
      ...createKnowledgeQueue(engine, { remover: knowledge, removals }),
      ...createKnowledgeEditions(engine, knowledge),
      ...createKnowledgeIndex(engine),
    }),
    unanswered: createUnansweredStore(engine, shared, { passages, sources }),
    companions: createCompanionStore(engine, shared, companionWriter),
    companionSets: createCompanionSetStore(scripts, companionWriter, removals),
    conversations: createConversationStore(engine, shared),
    drafts: createDraftStore(scripts, companionWriter),
    embedTokens: createEmbedTokenStore(scripts, recordLastUses),
    feedback: createFeedbackStore(scripts, tell),
    handoffs: createHandoffStore(scripts, {
      wasErased: (key, arrivalMark) => part(() => erasures.cover(key, arrivalMark)),
      addMessage: (key, id, message, facts) => part(() => conversations.add(key, id, [message], facts)),
      noteEnd: (...of) => part(() => exchanges.noteEnd(...of)),
      ...{ tell, mailBell },
    }),
    idempotency: createIdempotencyStore(scripts),
    insights: createInsightsStore(scripts, conversationWalkQueries.updated),
    members: createMemberStore(scripts),
    mails: createMailStore(scripts, mailBell),
    secondFactors: createSecondFactorStore(scripts),
    serverSecrets: createServerSecretStore(scripts),
    sessions: createSessionStore(scripts, recordLastUses, createSessionLookup(engine)),
    spending: createSpendingStore(scripts, createSpendingParts(engine, shared)),
    toolCalls: createToolCallStore(scripts, eraseCalls),
    tools: createToolStore(scripts),
    turns: createTurnStore(engine, shared),
    usage: createUsageStore(engine),
    versions: createVersionStore(scripts, companionWriter),
    visitorKeys: createVisitorKeyStore(scripts, createVisitorKeyLookups(engine)),
    voice: createVoiceStore(scripts, createVoiceCounting(engine, shared)),
    voiceAgentGrants: createVoiceAgentGrantStore(scripts),
    webhooks: createWebhookStore(scripts, bell, removals),

    async check() {
      await engine.read(() => checkRead.get());
      engine.requireFile();
    },
    async close() {
      // A command that has deleted something returns only when nothing is left of it: a server beside it would take a minute.
      await (isServer ? removals.stop() : removals.finish());
      await engine.close();
    },
  };
}

/** Opens the SQLite store: migrated, with all its parts. */
import type { ErasureMarks } from "../../contracts/coordination.ts";
import type { Store } from "../../contracts/store/store.ts";
import type { Log } from "../../lib/log.ts";
import { changes as changeScripts } from "../store-shared/scripts/changes.ts";
import { DeliveryBell } from "../store-shared/scripts/event-deliveries.ts";
import { part } from "../store-shared/scripts/script.ts";
import { createSharedStores } from "../store-shared/scripts/stores.ts";
import { createCallRemovals } from "../store-shared/scripts/tool-calls.ts";
import { versionRemovals } from "../store-shared/scripts/version-room.ts";
import { voiceAgents as voiceAgentScripts } from "../store-shared/scripts/voice-agents.ts";
import { createCompanionParts, createCompanionStore } from "./companions.ts";
import { databasePath, openConnection, openMemoryConnection } from "./connection.ts";
import { conversationWalkQueries } from "./conversation-reader.ts";
import { createConversationWriter } from "./conversation-writer.ts";
import { createConversationStore } from "./conversations.ts";
import type { StoreDatabase, StoreObserver } from "./database.ts";
import { SqliteEngine } from "./engine.ts";
import { createCallEraser, createMessageEraser } from "./erasers.ts";
import { createEventWriter } from "./events.ts";
import { createExchanges } from "./exchanges.ts";
import { createKnowledgeEditions } from "./knowledge-editions.ts";
import { createKnowledgeIndex } from "./knowledge-index.ts";
import { createPassageReader } from "./knowledge-passages.ts";
import { createKnowledgeQueue } from "./knowledge-queue.ts";
import { createKnowledgeRemover, toSourceRemover } from "./knowledge-removal.ts";
import { createMetadataIndex } from "./metadata-index.ts";
import { type MigrateOptions, migrateDatabase } from "./migrator.ts";
import { createKeyLookups, createLastUses, createSessionLookup } from "./principals.ts";
import { createQuotaCounts, createVisitorDays } from "./quota.ts";
import { requireReleasedFile } from "./released.ts";
import { createRemovals } from "./removals.ts";
import { findDifferences } from "./schema-differences.ts";
import { createSqliteScripts } from "./scripts.ts";
import { createSpendingParts } from "./spending.ts";
import { createSpendingLedger } from "./spending-ledger.ts";
import { createTurnStore } from "./turns.ts";
import { createUnansweredParts } from "./unanswered.ts";
import { createUsageStore } from "./usage.ts";
import { createUsageWriter } from "./usage-writer.ts";
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
  if (options.settlesLeftAtMs != null) reportDifferences(database, options.log);
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
function reportDifferences(database: StoreDatabase, log: Log): void {
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
  const { stores, companionWriter } = createSharedStores(scripts, {
    ...{ removals, bell, callRemover: eraseCalls, sourceRemover: toSourceRemover(knowledge, removals.add) },
    companionParts: createCompanionParts(shared),
    knowledge: {
      ...createPassageReader(engine),
      ...createKnowledgeQueue(engine, { remover: knowledge, removals }),
      ...createKnowledgeEditions(engine, knowledge),
      ...createKnowledgeIndex(engine),
    },
    keyLookups: createKeyLookups(engine, usage),
    visitorKeyLookups: createVisitorKeyLookups(engine),
    sessionLookup: createSessionLookup(engine),
    recordLastUses: createLastUses(engine),
    spending: createSpendingParts(engine, shared),
    unanswered: createUnansweredParts(engine, shared),
    voice: createVoiceCounting(engine, shared),
    handoffs: {
      wasErased: (key, arrivalMark) => part(() => erasures.cover(key, arrivalMark)),
      addMessage: (key, id, message, facts) => part(() => conversations.add(key, id, [message], facts)),
      noteEnd: (...of) => part(() => exchanges.noteEnd(...of)),
    },
    selectUpdated: conversationWalkQueries.updated,
    emit: (newEvents, id) =>
      part(() => {
        for (const event of newEvents) events.emit(event, id);
      }),
  });
  const checkRead = engine.query<{ one: number }>("SELECT 1 AS one FROM accounts LIMIT 1");

  // Continue deletions that an earlier process left unfinished.
  removals.resume();
  return {
    ...stores,
    companions: createCompanionStore(engine, shared, companionWriter),
    conversations: createConversationStore(engine, shared),
    turns: createTurnStore(engine, shared),
    usage: createUsageStore(engine),

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

const leftPerCommit = 200;

/**
 * What a server that was killed had reserved, settled when the next one begins to serve the same directory: all but voice
 * sessions, which go on without a server.
 */
async function settleLeftSpending(engine: SqliteEngine, nowMs: number, log: Log): Promise<void> {
  const select = engine.query<{ id: string }, [number]>(
    "SELECT id FROM spending_reservations WHERE is_voice = 0 ORDER BY due_at LIMIT ?",
  );
  const ledger = createSpendingLedger(engine, createUsageWriter(engine), createEventWriter(engine, new DeliveryBell()));
  for (;;) {
    const left = await engine.read(() => select.all(leftPerCommit));
    if (left.length === 0) return;
    const reached = await engine.write(() => left.flatMap(({ id }) => ledger.settleAtWorst(id, nowMs)));
    log.warn("calls of the server before are settled at their worst case", { calls: left.length });
    for (const { id: budgetId, ...budget } of reached) log.warn("budget reached", { budgetId, ...budget });
  }
}

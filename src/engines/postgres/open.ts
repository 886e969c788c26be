/** Opens the PostgreSQL store: migrated, with all its parts. */
import type { Store } from "../../contracts/store/store.ts";
import { AppError } from "../../domain/errors.ts";
import { afterAnswerable } from "../../lib/deadline.ts";
import type { Log } from "../../lib/log.ts";
import { changes } from "../store-shared/scripts/changes.ts";
import { DeliveryBell } from "../store-shared/scripts/event-deliveries.ts";
import { part, run } from "../store-shared/scripts/script.ts";
import { createSharedStores } from "../store-shared/scripts/stores.ts";
import { removeRows } from "../store-shared/scripts/tool-calls.ts";
import { createArrivalMarks } from "./arrival-marks.ts";
import { createCompanionParts, createCompanionStore } from "./companions.ts";
import { nameServer, readServerFacts, requireFit } from "./connect-failure.ts";
import { connect } from "./connection.ts";
import { conversationWalkQueries } from "./conversation-lists.ts";
import { createConversationWriter } from "./conversation-writer.ts";
import { createConversationStore } from "./conversations.ts";
import { requireNoCopy } from "./copy-guard.ts";
import { PostgresEngine } from "./engine.ts";
import { createErasures, wasErased } from "./erasures.ts";
import { createEventWriter } from "./events.ts";
import { unavailable } from "./failures.ts";
import { createKnowledgeEditions } from "./knowledge-editions.ts";
import { createKnowledgeQueue } from "./knowledge-queue.ts";
import { createKnowledgeRemover, toSourceRemover } from "./knowledge-removal.ts";
import { createKnowledgeVectors } from "./knowledge-vectors.ts";
import { createMetadataIndex } from "./metadata-index.ts";
import { migratePostgres, requireMigrated, requireReadable } from "./migrator.ts";
import { createOpenTickets } from "./open-tickets.ts";
import type { StoreParts } from "./parts.ts";
import type { PoolObserver } from "./pool.ts";
import { createKeyLookups, createLastUses, createSessionLookup } from "./principals.ts";
import type { Queries } from "./queries.ts";
import { createQuotaCounts } from "./quota.ts";
import { createRemovals } from "./removals.ts";
import { bindScripts, createPostgresScripts } from "./scripts.ts";
import { createSettling } from "./settling.ts";
import { createSpendingParts } from "./spending.ts";
import { createSpendingLedger } from "./spending-ledger.ts";
import type { Transaction } from "./transaction.ts";
import { createTurnStore } from "./turns.ts";
import { createUnansweredParts } from "./unanswered.ts";
import { createUsageStore } from "./usage.ts";
import { createUsageWriter } from "./usage-writer.ts";
import { createVisitorKeyLookups } from "./visitor-keys.ts";
import { createVoiceCounting } from "./voice.ts";

const noteEnd = "SELECT note_ends(ARRAY[$1::text], ARRAY[$2::text], ARRAY[$3::text], ARRAY[$4::text], ARRAY[$5::text])";

export interface PostgresStoreOptions {
  url: string;
  /** Connections at most, for requests and for what takes long. */
  pool: number;
  poolHeavy: number;
  log: Log;
  /** Counts statements, for tests and benchmarks. */
  observer?: PoolObserver;
  /** False for commands that leave the schema as it is: then it must be this program's. */
  migrates?: boolean;
  /** False for commands that find data rather than begin it: then a database without tables is refused. */
  mayCreate?: boolean;
  /** Called before the first tables are made; what it throws is the reason not to. */
  beforeFirst?: (() => void) | undefined;
}

/** A store with what its coordination needs of it. */
export interface OpenedPostgres {
  engine: PostgresEngine;
  parts: StoreParts;
  store: Store;
}

/** A readiness probe has less patience than a request. */
const checkMs = 3_000;
/** How long closing waits for deletions under way; what does not end is undone, and left for the next start. */
const lastRemovalMs = 3_000;
// The server gives up first: our own deadline replaces all connections.
const quickStatementMs = 4_800;
const heavyStatementMs = 59_000;

export function createEngine({ url, pool, poolHeavy, observer }: PostgresStoreOptions): PostgresEngine {
  return new PostgresEngine({
    connectQuick: () => connect({ url, max: pool, statementMs: quickStatementMs, hasFixedPlans: true }),
    connectHeavy: () => connect({ url, max: poolHeavy, statementMs: heavyStatementMs }),
    observer,
  });
}

export async function openPostgresStore(options: PostgresStoreOptions): Promise<OpenedPostgres> {
  const engine = createEngine(options);
  try {
    requireFit(await readServerFacts(engine.quick));
    // Before the migration, which would change an unfinished copy.
    await requireNoCopy(engine.heavy);
    await prepareSchema(engine, options);
    const parts = await createParts(engine, options);
    return { engine, parts, store: createStore(engine, parts) };
  } catch (error) {
    await engine.close();
    throw error;
  }
}

async function prepareSchema(engine: PostgresEngine, options: PostgresStoreOptions): Promise<void> {
  const { version } = await requireReadable(engine.quick);
  const { migrates = true, mayCreate = migrates } = options;
  if (version === 0 && mayCreate) options.beforeFirst?.();
  else if (version === 0) throw noTables(options);
  else if (!migrates) return requireMigrated(version);
  const applied = await migratePostgres(engine.heavyPool);
  if (applied.length > 0) options.log.info("database migrated", { migrations: applied });
}

/** The data may still be elsewhere, which is more informative. */
function noTables({ url, beforeFirst }: PostgresStoreOptions): AppError {
  beforeFirst?.();
  const database = decodeURIComponent(new URL(url).pathname.slice(1));
  return new AppError(
    "not_found",
    `There are no tables of companiond in the database ${database} at ${nameServer(url)}. Name the one that holds them ` +
      "with DATABASE_URL. Only serve, account create and copy create them.",
  );
}

async function createParts(engine: PostgresEngine, { log }: PostgresStoreOptions): Promise<StoreParts> {
  const row = await engine.quick.get<{ snapshot: string }>("SELECT pg_current_snapshot()::text AS snapshot");
  const arrivals = createArrivalMarks(row?.snapshot ?? "");
  const erasures = createErasures(engine, arrivals);
  const knowledge = createKnowledgeRemover();
  const tickets = createOpenTickets();
  const bell = new DeliveryBell();
  const events = createEventWriter(bell);
  return {
    log,
    arrivals,
    changes: bindScripts(changes),
    conversations: createConversationWriter(),
    knowledge,
    metadata: createMetadataIndex("companion_metadata"),
    quota: createQuotaCounts(),
    removals: createRemovals(engine, { knowledge, erasures, log }),
    bell,
    erasures,
    events,
    scripts: createPostgresScripts(engine),
    settling: createSettling(engine, tickets, bell),
    spending: createSpendingLedger(bell),
    tickets,
    usage: createUsageWriter(),
  };
}

function createStore(engine: PostgresEngine, parts: StoreParts): Store {
  const { bell, changes, conversations, events, removals, scripts, settling } = parts;
  const { stores, companionWriter } = createSharedStores(scripts, {
    ...{ removals, bell, callRemover: removeRows, sourceRemover: toSourceRemover(parts.knowledge) },
    companionParts: createCompanionParts(parts),
    knowledge: {
      ...createKnowledgeQueue(engine, parts),
      ...createKnowledgeEditions(engine),
      ...createKnowledgeVectors(engine),
    },
    keyLookups: createKeyLookups(engine, parts.usage),
    visitorKeyLookups: createVisitorKeyLookups(engine),
    sessionLookup: createSessionLookup(engine),
    recordLastUses: createLastUses(engine),
    spending: createSpendingParts(engine, parts),
    unanswered: createUnansweredParts(engine, parts),
    voice: createVoiceCounting(engine, parts),
    handoffs: {
      wasErased: (...of) => part((transaction: Queries) => wasErased(transaction, ...of)),
      addMessage: (key, id, message, facts) =>
        part((transaction: Queries) => conversations.add(transaction, { key, ...facts }, id, [message])),
      noteEnd: ({ companionId, sessionId, visitorId }, clientId, endCode) =>
        run(noteEnd, companionId, sessionId, visitorId ?? "", clientId, endCode),
    },
    selectUpdated: conversationWalkQueries.updated,
    emit: (newEvents, id) => part((transaction: Transaction) => events.emit(transaction, newEvents, id)),
  });
  // Continue deletions that an earlier process left unfinished.
  removals.start();
  return {
    ...stores,
    companions: createCompanionStore(engine, parts, companionWriter),
    conversations: createConversationStore(engine, parts),
    turns: createTurnStore(engine, parts),
    usage: createUsageStore(engine, changes),

    async check() {
      const late = Promise.withResolvers<never>();
      const cancel = afterAnswerable(checkMs, () => late.reject(unavailable()));
      const check = engine.quick.get("SELECT 1 FROM companiond");
      await Promise.race([check, late.promise]).finally(cancel);
    },
    async close() {
      await settling.close();
      await Promise.race([removals.stop(), Bun.sleep(lastRemovalMs)]);
      await engine.close();
    },
  };
}

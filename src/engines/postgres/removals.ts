/** Deletes the remains of what was deleted in chunks, in the background. */
import type { Log } from "../../lib/log.ts";
import { emptySomeDeliveries } from "../store-shared/scripts/event-deliveries.ts";
import { versionRemovals } from "../store-shared/scripts/version-room.ts";
import { voiceAgents } from "../store-shared/scripts/voice-agents.ts";
import type { Row } from "../store-shared/tables/dialect.ts";
import type { PostgresEngine } from "./engine.ts";
import type { Erasures } from "./erasures.ts";
import { addRemoval, callRemovals, type KnowledgeRemover } from "./knowledge-removal.ts";
import type { Removals } from "./parts.ts";
import { mapColumns } from "./rows/columns.ts";
import { bindScripts } from "./scripts.ts";
import { tables } from "./tables.ts";
import type { Transaction } from "./transaction.ts";

/** Rows per commit: some ten milliseconds of work. */
const rowsPerChunk = 1_000;
const companionsPerChunk = 20;
const conversationsPerChunk = 100;

const removalColumns = mapColumns(tables.removals);
type RemovalRow = Row<typeof tables.removals>;

const selectCompanions = `SELECT number::float8 AS number, id FROM companions
  WHERE account_id = $1 ORDER BY number LIMIT ${companionsPerChunk} FOR UPDATE`;
/** By position in the table, so that the plan is the same however many rows there are. */
const deleteSome = (table: string, condition: string) => `DELETE FROM ${table}
  WHERE ctid = ANY (ARRAY (SELECT ctid FROM ${table} WHERE ${condition} LIMIT ${rowsPerChunk}))`;
const deleteIndexRows = deleteSome("companion_metadata", "account_number = $1");
const deleteLabelIndexRows = deleteSome("usage_label_metadata", "account_number = $1");
const deleteLabels = deleteSome("usage_labels", "account_id = $1");
const deleteVisitorDays = deleteSome("visitor_daily", "companion_id = $1");
const deleteMessages = deleteSome("messages", "conversation_number = ANY ($1::bigint[])");
const deleteDeliveries = deleteSome("webhook_deliveries", "webhook_id = $1");
const emptyOfCompanion = emptySomeDeliveries("companion_id = $1", String(rowsPerChunk));
// What is being erased just now needs no removal.
const selectConversations = `SELECT number::float8 AS number FROM conversations
  WHERE companion_id = $1 LIMIT ${conversationsPerChunk} FOR UPDATE SKIP LOCKED`;
const deleteConversations = "DELETE FROM conversations WHERE number = ANY ($1::bigint[])";
const selectAnyConversation = "SELECT 1 AS one FROM conversations WHERE companion_id = $1 LIMIT 1";
const deleteRemovals = "DELETE FROM removals WHERE number = ANY ($1::bigint[])";

const { dismiss } = bindScripts(voiceAgents);
const { removeOfCompanion: removeVersions } = bindScripts(versionRemovals);

interface ChunkDependencies {
  knowledge: KnowledgeRemover;
}

/**
 * One chunk of what deletions leave, bounded in rows. Returns a function that deletes the next chunk of the removals,
 * which the transaction has locked.
 */
function createChunkRemover({ knowledge }: ChunkDependencies) {
  async function removeAccountChunk(transaction: Transaction, removal: RemovalRow): Promise<boolean> {
    const companions = await transaction.all<{ number: number; id: string }>(selectCompanions, [removal.targetId]);
    const ids = companions.map(({ id }) => id);
    if (ids.length > 0) {
      await dismiss(transaction, ids, removal.createdAt);
      await transaction.run("DELETE FROM companions WHERE id = ANY ($1::text[])", [ids]);
      for (const { id, number } of companions)
        await addRemoval(transaction, "companion", id, number, removal.createdAt);
    }
    const deleted = await transaction.run(deleteIndexRows, [removal.targetNumber]);
    if (ids.length > 0 || deleted === rowsPerChunk) return false;
    // Only now: usage of a companion that is still there makes another label.
    const index = await transaction.run(deleteLabelIndexRows, [removal.targetNumber]);
    const labels = await transaction.run(deleteLabels, [removal.targetId]);
    return index < rowsPerChunk && labels < rowsPerChunk;
  }

  async function removeCompanionChunk(transaction: Transaction, removal: RemovalRow): Promise<boolean> {
    const { targetId } = removal;
    // Before the companion's lock, since it takes the account's.
    if (!(await removeVersions(transaction, targetId, rowsPerChunk))) return false;
    // Behind the turns that are just being settled: they may have seen the companion (`share_companions`).
    await transaction.lock(`companion ${targetId}`);
    if (!(await knowledge.removeSources(transaction, targetId, removal.createdAt))) return false;
    await transaction.run("DELETE FROM voice_sessions WHERE companion_id = $1", [targetId]);
    if ((await transaction.run(emptyOfCompanion, [targetId])) === rowsPerChunk) return false;
    const conversations = await transaction.all<{ number: number }>(selectConversations, [targetId]);
    const numbers = conversations.map(({ number }) => number);
    if (numbers.length > 0) {
      if (await removeMessages(transaction, numbers)) await transaction.run(deleteConversations, [numbers]);
      return false;
    }
    if ((await transaction.get(selectAnyConversation, [targetId])) !== null) return false;
    await transaction.run("DELETE FROM quota_daily WHERE companion_id = $1", [targetId]);
    if ((await callRemovals.removeOpenOfCompanion(transaction, targetId, rowsPerChunk)) === rowsPerChunk) return false;
    return (await transaction.run(deleteVisitorDays, [targetId])) < rowsPerChunk;
  }

  /** Also what turns found and called, beside them. False if some are left. */
  async function removeMessages(transaction: Transaction, conversations: readonly number[]): Promise<boolean> {
    if ((await transaction.run(deleteMessages, [conversations])) === rowsPerChunk) return false;
    if ((await callRemovals.removeOfConversations(transaction, conversations, rowsPerChunk)) === rowsPerChunk)
      return false;
    return await knowledge.removeTurns(transaction, conversations);
  }

  const removers = {
    account: removeAccountChunk,
    companion: removeCompanionChunk,
    edition: (transaction: Transaction, { targetNumber }: RemovalRow) =>
      knowledge.removeEdition(transaction, targetNumber),
    upload: (transaction: Transaction, { targetId }: RemovalRow) => knowledge.removeUpload(transaction, targetId),
    webhook: async (transaction: Transaction, { targetId }: RemovalRow) =>
      (await transaction.run(deleteDeliveries, [targetId])) < rowsPerChunk,
  };

  async function finish(transaction: Transaction, removals: readonly RemovalRow[]): Promise<void> {
    await transaction.run(deleteRemovals, [removals.map(({ number }) => number)]);
  }

  return async (transaction: Transaction, rows: readonly RemovalRow[]): Promise<void> => {
    const [first] = rows;
    if (first === undefined) return;
    if (first.kind === "conversation") {
      const conversations = rows.filter(({ kind }) => kind === "conversation");
      const numbers = conversations.map(({ targetNumber }) => targetNumber);
      if (await removeMessages(transaction, numbers)) await finish(transaction, conversations);
      return;
    }
    if (await removers[first.kind](transaction, first)) await finish(transaction, [first]);
  };
}

/** How often to check for the remains of another process, or of failed writes. */
const checkAgainMs = 60_000;
/** So many conversations, with few messages each, share a commit. */
const removalsPerChunk = 50;

export interface RemovalDependencies extends ChunkDependencies {
  erasures: Erasures;
  log: Log;
}

const selectAny = "SELECT 1 AS one FROM removals LIMIT 1";
// The newest first: an account's own remains are added after it, and must not pile up. Other servers take others.
const takeNewest = `SELECT ${removalColumns.select("r")} FROM removals r
  ORDER BY number DESC LIMIT ${removalsPerChunk} FOR UPDATE SKIP LOCKED`;
const ofConversations = "FROM removals r WHERE kind = 'conversation' AND number <= $1";
const selectLast = "SELECT max(number)::float8 AS last FROM removals";
// In order, and waiting for those who hold them: they must be gone.
const takeConversations = `SELECT ${removalColumns.select("r")} ${ofConversations}
  ORDER BY number LIMIT ${removalsPerChunk} FOR UPDATE`;

export function createRemovals(engine: PostgresEngine, dependencies: RemovalDependencies): Removals {
  const { erasures, log } = dependencies;
  const removeChunk = createChunkRemover(dependencies);
  let isStopped = false;
  let isAskedAgain = false;
  let running: Promise<void> | null = null;
  let forgetting: Promise<void> | null = null;

  /** False if there was nothing to take. */
  function removeNext(): Promise<boolean> {
    return engine.writeHeavy(async (transaction) => {
      const rows = await transaction.all<RemovalRow>(takeNewest);
      await removeChunk(transaction, rows);
      return rows.length > 0;
    });
  }

  async function run(): Promise<void> {
    try {
      do {
        isAskedAgain = false;
        // A write would be a commit; most checks find nothing.
        while (!isStopped && (await engine.heavy.get(selectAny)) !== null) {
          if (!(await removeNext())) break;
        }
      } while (isAskedAgain && !isStopped);
    } catch (error) {
      // Nothing awaits this, and the timer retries: a rejection would only end the process.
      if (!isStopped) log.warn("deletion of leftovers postponed", { error });
    }
  }

  function start(): void {
    isAskedAgain = true;
    if (isStopped || running !== null) return;
    running = run().finally(() => {
      running = null;
    });
  }

  async function forget(): Promise<void> {
    try {
      await erasures.forgetOld();
    } catch (error) {
      log.warn("old erasures are kept for now", { error });
    }
  }

  const timer = setInterval(() => {
    start();
    forgetting = forget();
  }, checkAgainMs);
  timer.unref();

  return {
    add: addRemoval,
    start,
    async finishConversations() {
      const last = (await engine.heavy.get<{ last: number | null }>(selectLast))?.last ?? 0;
      while ((await engine.heavy.get(`SELECT 1 AS one ${ofConversations} LIMIT 1`, [last])) !== null) {
        await engine.writeHeavy(async (transaction) => {
          await removeChunk(transaction, await transaction.all<RemovalRow>(takeConversations, [last]));
        });
      }
    },
    async stop() {
      isStopped = true;
      clearInterval(timer);
      await running;
      await forgetting;
    },
  };
}

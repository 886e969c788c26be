/** Deletes the remains of what was deleted in chunks, in the background. */
import type { Log } from "../../lib/log.ts";
import type { PostgresEngine } from "./engine.ts";
import type { Erasures } from "./erasures.ts";
import type { Removals } from "./parts.ts";
import { type ChunkDependencies, createChunkRemover, type RemovalRow, removalColumns } from "./removal-chunks.ts";
import { addRemoval } from "./removal-rows.ts";

/** How often to look for the remains of another process, or of failed writes. */
const lookAgainMs = 60_000;
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
// In order, and waiting for whoever has them: they must be gone.
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
      // Nobody awaits this, and the timer retries: a rejection would only end the process.
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
  }, lookAgainMs);
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

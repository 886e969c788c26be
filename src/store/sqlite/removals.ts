/** Deletes, a chunk at a time and behind everything else, what a deleted account, companion or conversation leaves. */
import type { Log } from "../../lib/log.ts";
import type { SqliteEngine } from "./engine.ts";
import type { LogEmptier } from "./log-emptier.ts";
import type { MessageEraser } from "./message-eraser.ts";
import { yieldToEventLoop } from "./pacing.ts";
import type { VoiceAgentKeeper } from "./voice-agents.ts";

/** Rows in one commit: a few milliseconds of work. */
const rowsPerChunk = 100;
const companionsPerChunk = 20;
/** How often to look for what another process left, or what could not be written. */
const lookAgainMs = 60_000;
/** A script that deletes one after the other is waited for so long. */
const gatherMs = 200;

interface RemovalRow {
  number: number;
  kind: "account" | "companion" | "conversation";
  target_id: string;
  target_number: number;
  created_at: number;
}

export interface Removals {
  /** Begins, unless it is under way; returns at once. */
  start(): void;
  /** Stops after the chunk under way; the rest is done after the next start. */
  stop(): Promise<void>;
}

export interface RemovalParts {
  eraser: MessageEraser;
  logEmptier: LogEmptier;
  voiceAgents: VoiceAgentKeeper;
  log: Log;
}

export function createRemovals(engine: SqliteEngine, parts: RemovalParts): Removals {
  const { log } = parts;
  const removeChunk = createChunkRemover(engine, parts);
  const selectAny = engine.query<{ number: number }>("SELECT number FROM removals LIMIT 1");
  let emptyTimer: ReturnType<typeof setTimeout> | null = null;
  let emptying: Promise<void> | null = null;
  let isStopped = false;
  let isAskedAgain = false;
  /** Whether the log may hold what is gone from the tables; an earlier process may have ended in between. */
  let isLogStale = true;
  let running: Promise<void> | null = null;

  async function run(): Promise<void> {
    try {
      do {
        isAskedAgain = false;
        // A write would be a commit; most looks find nothing.
        while (!isStopped && (await engine.read(() => selectAny.get() !== null))) {
          isLogStale = true;
          await engine.write(removeChunk);
          await yieldToEventLoop();
        }
        emptyLogSoon();
      } while (isAskedAgain && !isStopped);
    } catch (error) {
      // Nobody waits for this, and the timer tries again: a rejection would only end the process.
      log.warn("deletion of leftovers is put off", { error });
    }
  }

  /** Only then is the deletion finished. At the end of the process the log is emptied anyway. */
  function emptyLogSoon(): void {
    if (!isLogStale || isStopped || emptyTimer !== null) return;
    // Many deletions in a row share one, which writes to the disk and waits for it.
    emptyTimer = setTimeout(() => {
      emptyTimer = null;
      emptying = emptyLog();
    }, gatherMs);
    emptyTimer.unref();
  }

  async function emptyLog(): Promise<void> {
    isLogStale = false;
    try {
      await parts.logEmptier.empty();
    } catch (error) {
      isLogStale = true;
      log.warn("the write-ahead log still holds what was deleted", { error });
    }
  }

  function look(): void {
    isAskedAgain = true;
    if (isStopped || running !== null) return;
    running = run().finally(() => {
      running = null;
    });
  }

  /** What was deleted may be gone from the tables by now: an erasure takes it along, and may fail to empty the log. */
  function start(): void {
    isLogStale = true;
    look();
  }

  const timer = setInterval(look, lookAgainMs);
  timer.unref();

  return {
    start,
    async stop() {
      isStopped = true;
      if (emptyTimer !== null) clearTimeout(emptyTimer);
      clearInterval(timer);
      await running;
      await emptying;
    },
  };
}

/** A function that deletes the next chunk; to be called inside a write. */
function createChunkRemover(engine: SqliteEngine, { eraser, voiceAgents }: RemovalParts): () => void {
  const selectNext = engine.query<RemovalRow>("SELECT * FROM removals ORDER BY number DESC LIMIT 1");
  const insertRemoval = engine.query<null, [string, string, number, number]>(
    "INSERT INTO removals (kind, target_id, target_number, created_at) VALUES (?, ?, ?, ?)",
  );
  const deleteRemoval = engine.query<null, [number]>("DELETE FROM removals WHERE number = ?");
  const selectCompanions = engine.query<{ number: number; id: string }, [string, number]>(
    "SELECT number, id FROM companions WHERE account_id = ? LIMIT ?",
  );
  const deleteCompanion = engine.query<null, [number]>("DELETE FROM companions WHERE number = ?");
  const deleteIndexRows = engine.query<null, [number, number]>(
    `DELETE FROM companion_metadata WHERE (account_number, path, value, block) IN
       (SELECT account_number, path, value, block FROM companion_metadata WHERE account_number = ? LIMIT ?)`,
  );
  const selectConversation = engine.query<{ number: number }, [string]>(
    "SELECT number FROM conversations WHERE companion_id = ? LIMIT 1",
  );
  const deleteConversation = engine.query<null, [number]>("DELETE FROM conversations WHERE number = ?");
  const deleteVoiceSessions = engine.query<null, [string]>("DELETE FROM voice_sessions WHERE companion_id = ?");
  const deleteQuota = engine.query<null, [string]>("DELETE FROM quota_daily WHERE companion_id = ?");

  function removeAccountChunk(removal: RemovalRow): boolean {
    const companions = selectCompanions.all(removal.target_id, companionsPerChunk);
    for (const { number, id } of companions) {
      voiceAgents.dismiss(id, removal.created_at);
      deleteCompanion.run(number);
      insertRemoval.run("companion", id, number, removal.created_at);
    }
    return companions.length === 0 && deleteIndexRows.run(removal.target_number, rowsPerChunk) < rowsPerChunk;
  }

  function removeConversationChunk(number: number): number {
    const deleted = eraser.erase(number, rowsPerChunk);
    if (deleted < rowsPerChunk) deleteConversation.run(number);
    return deleted + 1;
  }

  function removeCompanionChunk(removal: RemovalRow): boolean {
    for (let rows = 0; rows < rowsPerChunk; ) {
      const conversation = selectConversation.get(removal.target_id);
      if (conversation === null) {
        deleteVoiceSessions.run(removal.target_id);
        deleteQuota.run(removal.target_id);
        return true;
      }
      rows += removeConversationChunk(conversation.number);
    }
    return false;
  }

  const removers = {
    account: removeAccountChunk,
    companion: removeCompanionChunk,
    conversation: (removal: RemovalRow) => removeConversationChunk(removal.target_number) <= rowsPerChunk,
  };
  return () => {
    // The newest first: what an account leaves is put in after it, and must not pile up.
    const removal = selectNext.get();
    if (removal !== null && removers[removal.kind](removal)) deleteRemoval.run(removal.number);
  };
}

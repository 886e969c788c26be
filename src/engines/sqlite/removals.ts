/** Deletes the remains of what was deleted in chunks, in the background. */
import type { Log } from "../../lib/log.ts";
import { pause } from "../../lib/pause.ts";
import { emptyDeliveries, emptySomeDeliveries } from "../store-shared/scripts/event-deliveries.ts";
import type { RemovalKind } from "../store-shared/scripts/removals.ts";
import type { versionRemovals } from "../store-shared/scripts/version-room.ts";
import type { SqliteEngine } from "./engine.ts";
import type { CallRemovals, MessageEraser } from "./erasers.ts";
import type { KnowledgeRemover } from "./knowledge-removal.ts";
import type { MetadataTable } from "./metadata-index.ts";
import type { VisitorDays } from "./quota.ts";
import type { Bound, VoiceAgentScripts } from "./scripts.ts";

/** Rows per commit: a few milliseconds of work. */
const rowsPerChunk = 100;
const companionsPerChunk = 20;
/** How often to check for the remains of another process, or of failed writes. */
const checkAgainMs = 60_000;
/** How long to wait for further deletions, such as those of a script. */
const gatherMs = 200;

interface RemovalRow {
  number: number;
  kind: RemovalKind;
  target_id: string;
  target_number: number;
  created_at: number;
}

export interface Removals {
  /** Leaves the remains of what was deleted to the chunks; call it inside a write, and `start` after it. */
  add(kind: RemovalRow["kind"], targetId: string, targetNumber: number, nowMs: number): void;
  /** Starts unless it is already running; returns immediately. */
  start(): void;
  /** Continues what an earlier process left unfinished; returns immediately. */
  resume(): void;
  /** Stops after the current chunk; the next start does the rest. */
  stop(): Promise<void>;
  /** Stops as well, but does the rest first if it was started here. */
  finish(): Promise<void>;
}

export interface RemovalDependencies {
  calls: CallRemovals;
  eraser: MessageEraser;
  knowledge: KnowledgeRemover;
  versions: Bound<typeof versionRemovals>;
  visitorDays: VisitorDays;
  voiceAgents: VoiceAgentScripts;
  log: Log;
}

export function createRemovals(engine: SqliteEngine, dependencies: RemovalDependencies): Removals {
  const { log } = dependencies;
  const insert = engine.query<null, [string, string, number, number]>(
    "INSERT INTO removals (kind, target_id, target_number, created_at) VALUES (?, ?, ?, ?)",
  );
  const add: Removals["add"] = (...removal) => void insert.run(...removal);
  const removeChunk = createChunkRemover(engine, dependencies, add);
  const selectAny = engine.query<{ number: number }>("SELECT number FROM removals LIMIT 1");
  let emptyTimer: ReturnType<typeof setTimeout> | null = null;
  let emptying: Promise<void> | null = null;
  let isStarted = false;
  let isStopped = false;
  let isAskedAgain = false;
  /** Whether the log may contain what is deleted from the tables; an earlier process may have ended in between. */
  let isLogStale = true;
  let running: Promise<void> | null = null;

  async function run(): Promise<void> {
    try {
      do {
        isAskedAgain = false;
        // A write would be a commit; most checks find nothing.
        while (!isStopped && (await engine.read(() => selectAny.get() !== null))) {
          await engine.write(removeChunk);
          // Not before: the log may be emptied while the chunk waits for its commit.
          isLogStale = true;
          await pause();
        }
        emptyLogSoon();
      } while (isAskedAgain && !isStopped);
    } catch (error) {
      // Nothing awaits this, and the timer retries: a rejection would only end the process.
      log.warn("deletion of leftovers postponed", { error });
    }
  }

  /** Only this completes the deletion. At the end of the process the log is emptied anyway. */
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
      await engine.emptyLog();
    } catch (error) {
      isLogStale = true;
      log.warn("the write-ahead log still holds what was deleted", { error });
    }
  }

  function check(): void {
    isAskedAgain = true;
    if (isStopped || running !== null) return;
    running = run().finally(() => {
      running = null;
    });
  }

  function resume(): void {
    isLogStale = true;
    check();
  }

  /** Also if nothing is left in the tables: an erasure deletes the remains too, but may fail to empty the log. */
  function start(): void {
    isStarted = true;
    resume();
  }

  const timer = setInterval(check, checkAgainMs);
  timer.unref();

  async function stop(): Promise<void> {
    isStopped = true;
    if (emptyTimer !== null) clearTimeout(emptyTimer);
    clearInterval(timer);
    await running;
    await emptying;
  }

  return {
    add,
    start,
    resume,
    stop,
    async finish() {
      await running;
      await stop();
      // Last: the process at whose start the log is emptied otherwise may be far away.
      if (isStarted) await emptyLog();
    },
  };
}

/** Returns a function that deletes the next chunk; call it inside a write. */
function createChunkRemover(
  engine: SqliteEngine,
  { calls, eraser, knowledge, versions, visitorDays, voiceAgents }: RemovalDependencies,
  add: Removals["add"],
): () => void {
  const selectNext = engine.query<RemovalRow>("SELECT * FROM removals ORDER BY number DESC LIMIT 1");
  const deleteRemoval = engine.query<null, [number]>("DELETE FROM removals WHERE number = ?");
  const selectCompanions = engine.query<{ number: number; id: string }, [string, number]>(
    "SELECT number, id FROM companions WHERE account_id = ? LIMIT ?",
  );
  const deleteCompanion = engine.query<null, [number]>("DELETE FROM companions WHERE number = ?");
  const deleteIndexRows = (table: MetadataTable) =>
    engine.query<null, [number, number]>(
      `DELETE FROM ${table} WHERE (account_number, path, value, block) IN
         (SELECT account_number, path, value, block FROM ${table} WHERE account_number = ? LIMIT ?)`,
    );
  const deleteOfCompanions = deleteIndexRows("companion_metadata");
  const deleteOfLabels = deleteIndexRows("usage_label_metadata");
  const deleteLabels = engine.query<null, [string, number]>(
    "DELETE FROM usage_labels WHERE number IN (SELECT number FROM usage_labels WHERE account_id = ? LIMIT ?)",
  );
  const selectConversation = engine.query<{ number: number }, [string]>(
    "SELECT number FROM conversations WHERE companion_id = ? LIMIT 1",
  );
  const deleteConversation = engine.query<null, [number]>("DELETE FROM conversations WHERE number = ?");
  const deleteVoiceSessions = engine.query<null, [string]>("DELETE FROM voice_sessions WHERE companion_id = ?");
  const emptyOfConversation = engine.query<null, [string]>(emptyDeliveries("conversation_id = ?"));
  const emptyOfCompanion = engine.query<null, [string, number]>(emptySomeDeliveries("companion_id = ?", "?"));
  const deleteDeliveries = engine.query<null, [string, number]>(
    "DELETE FROM webhook_deliveries WHERE number IN (SELECT number FROM webhook_deliveries WHERE webhook_id = ? LIMIT ?)",
  );
  const deleteQuota = engine.query<null, [string]>("DELETE FROM quota_daily WHERE companion_id = ?");

  function removeAccountChunk(removal: RemovalRow): boolean {
    const companions = selectCompanions.all(removal.target_id, companionsPerChunk);
    const ids = companions.map(({ id }) => id);
    voiceAgents.dismiss(ids, removal.created_at);
    for (const { number, id } of companions) {
      deleteCompanion.run(number);
      add("companion", id, number, removal.created_at);
    }
    if (companions.length > 0) return false;
    // Only now: usage of a companion that is still there makes another label.
    const deleted = [
      deleteOfCompanions.run(removal.target_number, rowsPerChunk),
      deleteOfLabels.run(removal.target_number, rowsPerChunk),
      deleteLabels.run(removal.target_id, rowsPerChunk),
    ];
    return deleted.every((rows) => rows < rowsPerChunk);
  }

  function removeConversationChunk(number: number): number {
    const erased = eraser.erase(number, rowsPerChunk);
    const noted = erased + knowledge.removeTurns(number, rowsPerChunk - erased);
    const deleted = noted + calls.removeOfConversations([number], rowsPerChunk - noted);
    if (deleted < rowsPerChunk) deleteConversation.run(number);
    return deleted + 1;
  }

  function removeCompanionChunk({ target_id: id, created_at: nowMs }: RemovalRow): boolean {
    if (!versions.removeOfCompanion(id, rowsPerChunk)) return false;
    if (!knowledge.removeSources(add, id, nowMs)) return false;
    if (emptyOfCompanion.run(id, rowsPerChunk) === rowsPerChunk) return false;
    for (let rows = 0; rows < rowsPerChunk; ) {
      const conversation = selectConversation.get(id);
      if (conversation === null) {
        deleteVoiceSessions.run(id);
        deleteQuota.run(id);
        if (calls.removeOpenOfCompanion(id, rowsPerChunk) === rowsPerChunk) return false;
        return visitorDays.removeSome(id, rowsPerChunk) < rowsPerChunk;
      }
      rows += removeConversationChunk(conversation.number);
    }
    return false;
  }

  const removers: Record<RemovalKind, (removal: RemovalRow) => boolean> = {
    account: removeAccountChunk,
    companion: removeCompanionChunk,
    conversation(removal) {
      // Those of a conversation past its retention.
      emptyOfConversation.run(removal.target_id);
      return removeConversationChunk(removal.target_number) <= rowsPerChunk;
    },
    edition: (removal) => knowledge.removeEdition(removal.target_number),
    upload: (removal) => knowledge.removeUpload(removal.target_id),
    webhook: (removal) => deleteDeliveries.run(removal.target_id, rowsPerChunk) < rowsPerChunk,
  };
  return () => {
    // The newest first: an account's own remains are added after it, and must not pile up.
    const removal = selectNext.get();
    if (removal !== null && removers[removal.kind](removal)) deleteRemoval.run(removal.number);
  };
}

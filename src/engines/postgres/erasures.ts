/**
 * Erasures as rows with the number of their transaction: a turn that was running meanwhile settles later, and whether
 * its message came before is read from the snapshot that it arrived with (`add_messages`). No clock is asked.
 */
import type { ArrivalMark } from "../../contracts/coordination.ts";
import type { ConversationKey } from "../../domain/conversation.ts";
import { type ArrivalMarks, isArrivalMark } from "./arrival-marks.ts";
import type { PostgresEngine } from "./engine.ts";
import type { Queries } from "./queries.ts";
import type { Transaction } from "./transaction.ts";

export interface ErasedPart {
  companionId: string;
  /** Null for a conversation without a visitor. */
  visitorIds: readonly (string | null)[];
  /** Null: all messages of these visitors. */
  sessionId: string | null;
}

export interface Erasures {
  /**
   * Notes it, after the turns that are just being settled; until the transaction ends, others of these visitors wait.
   * Delete what there is afterwards, and call `renewMark` after the commit.
   */
  note(transaction: Transaction, part: ErasedPart): Promise<void>;
  /** What arrives from now on came after all that is committed. */
  renewMark(): Promise<void>;
  /** Forgets what no running turn can ask for. */
  forgetOld(): Promise<void>;
}

/** Far longer than any turn takes. */
const kept = "6 hours";
/** Far longer than a batch is sent again. */
const batchesKept = "10 minutes";

/** As `share_visitors` names and orders the locks, so that two transactions never wait for each other in a circle. */
const lockVisitors = `SELECT pg_advisory_xact_lock(k.key) FROM (
    SELECT DISTINCT hashtextextended('visitor ' || $1::text || ' ' || id, 0) AS key FROM unnest($2::text[]) AS id ORDER BY 1
  ) AS k`;
const insertErasures = `INSERT INTO erasures (companion_id, visitor_id, session_id, transaction)
  SELECT $1, id, $3, pg_current_xact_id() FROM unnest($2::text[]) AS id`;
const before = (age: string) => `(extract(epoch FROM clock_timestamp() - interval '${age}') * 1000)::bigint`;
/** The newest of them stays as a row without a companion: what arrived before it may have been erased by any of them. */
const forgetErasures = `WITH forgotten AS (DELETE FROM erasures WHERE erased_at < ${before(kept)} RETURNING transaction)
  INSERT INTO erasures (companion_id, visitor_id, transaction)
  SELECT '', '', transaction FROM forgotten ORDER BY transaction DESC LIMIT 1`;
const forgetBatches = `DELETE FROM settled_batches WHERE settled_at < ${before(batchesKept)}`;

/** Waits for the turns of these visitors that are just being settled, and keeps others out. An empty id: no visitor. */
export async function lockVisitorsAlone(
  transaction: Transaction,
  companionId: string,
  visitorIds: readonly string[],
): Promise<void> {
  await transaction.run(lockVisitors, [companionId, visitorIds]);
}

/** As `add_messages` asks it: by the erasures that the request's snapshot does not show. */
const selectErasure = `SELECT FROM erasures WHERE (companion_id, visitor_id) IN (($1, $3), ('', ''))
  AND (session_id IS NULL OR session_id = $2) AND transaction < pg_snapshot_xmax(pg_current_snapshot())
  AND NOT pg_visible_in_snapshot(transaction, $4::text::pg_snapshot) LIMIT 1`;

/**
 * Whether what arrived at that mark has been erased since; true if its arrival is unknown. The transaction shares
 * the visitor, or has locked it.
 */
export async function wasErased(
  transaction: Queries,
  { companionId, sessionId, visitorId }: ConversationKey,
  arrivalMark: ArrivalMark,
): Promise<boolean> {
  if (typeof arrivalMark !== "string" || !isArrivalMark(arrivalMark)) return true;
  return (await transaction.get(selectErasure, [companionId, sessionId, visitorId ?? "", arrivalMark])) !== null;
}

export function createErasures(engine: PostgresEngine, arrivals: ArrivalMarks): Erasures {
  return {
    async note(transaction, { companionId, visitorIds, sessionId }) {
      const ids = visitorIds.map((visitorId) => visitorId ?? "");
      await Promise.all([
        lockVisitorsAlone(transaction, companionId, ids),
        transaction.run(insertErasures, [companionId, ids, sessionId]),
      ]);
    },

    async renewMark() {
      const keep = arrivals.begin();
      const row = await engine.quick.get<{ snapshot: string }>("SELECT pg_current_snapshot()::text AS snapshot");
      if (row !== null) keep(row.snapshot);
    },

    async forgetOld() {
      await engine.writeHeavy(async (transaction) => {
        // One server at a time, so that no server misses the row that another one leaves.
        await transaction.lock("forget erasures");
        await transaction.run(forgetErasures);
        await transaction.run(forgetBatches);
      });
    },
  };
}

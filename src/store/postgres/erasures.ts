/**
 * Erasures as rows with the number of their transaction: a turn that was running meanwhile settles later, and whether
 * its message came before is read from the snapshot that it arrived with (`add_messages`). No clock is asked.
 */
import type { ArrivalMarks } from "./arrival-marks.ts";
import type { PostgresEngine } from "./engine.ts";
import type { Transaction } from "./transaction.ts";

export interface ErasedPart {
  companionId: string;
  /** Null for a conversation without a visitor. */
  visitorId: string | null;
  /** Null: all that this visitor said. */
  sessionId: string | null;
}

export interface Erasures {
  /**
   * Notes it, after the turns that are just being settled; until the transaction ends, others of this visitor wait.
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

const insertErasure = `INSERT INTO erasures (companion_id, visitor_id, session_id, transaction)
  VALUES ($1, $2, $3, pg_current_xact_id())`;
const before = (age: string) => `(extract(epoch FROM clock_timestamp() - interval '${age}') * 1000)::bigint`;
/** The newest of them stays as a row without a companion: what arrived before it may have been erased by any of them. */
const forgetErasures = `WITH forgotten AS (DELETE FROM erasures WHERE erased_at < ${before(kept)} RETURNING transaction)
  INSERT INTO erasures (companion_id, visitor_id, transaction)
  SELECT '', '', transaction FROM forgotten ORDER BY transaction DESC LIMIT 1`;
const forgetBatches = `DELETE FROM settled_batches WHERE settled_at < ${before(batchesKept)}`;

export function createErasures(engine: PostgresEngine, arrivals: ArrivalMarks): Erasures {
  return {
    async note(transaction, { companionId, visitorId, sessionId }) {
      await Promise.all([
        // As `share_visitors` names it.
        transaction.lock(`visitor ${companionId} ${visitorId ?? ""}`),
        transaction.run(insertErasure, [companionId, visitorId ?? "", sessionId]),
      ]);
    },

    async renewMark() {
      const keep = arrivals.begin();
      const row = await engine.quick.get<{ snapshot: string }>("SELECT pg_current_snapshot()::text AS snapshot");
      if (row !== null) keep(row.snapshot);
    },

    async forgetOld() {
      await engine.writeHeavy(async (transaction) => {
        // One server at a time, so that nobody forgets the row that another one leaves.
        await transaction.lock("forget erasures");
        await transaction.run(forgetErasures);
        await transaction.run(forgetBatches);
      });
    },
  };
}

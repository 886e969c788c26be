/** The queue of sources to be read: servers take them one at a time, accounts in turns, for as long as their lease. */
import type { KnowledgeStore } from "../../contracts/store/knowledge.ts";
import { toSource } from "../store-shared/rows/knowledge.ts";
import type { Row } from "../store-shared/tables/dialect.ts";
import type { PostgresEngine } from "./engine.ts";
import { detachBegunOfClaimed } from "./knowledge-removal.ts";
import type { StoreParts } from "./parts.ts";
import { mapColumns } from "./rows/columns.ts";
import { tables } from "./tables.ts";

/** Sources as rows. */
const sourceColumns = mapColumns(tables.knowledgeSources);

/** A whole row, which makes a `Source` too. */
type StoredSource = Row<typeof tables.knowledgeSources>;

type QueueMethods = Pick<KnowledgeStore, "claim" | "findNextDue">;

export const queueQueries = {
  // In the order of its index, of which entries that are not due are passed over without their rows.
  claim: `WITH next AS MATERIALIZED (
      SELECT s.number FROM knowledge_sources s WHERE s.account_id > $1 AND s.account_id < $2 AND s.due_at <= $3
        AND EXISTS (SELECT FROM companions c WHERE c.id = s.companion_id)
      ORDER BY s.account_id, s.due_at, s.number LIMIT 1 FOR UPDATE OF s SKIP LOCKED
    ), claimed AS (
      UPDATE knowledge_sources s SET failures = s.failures + CASE WHEN s.status = 'indexing' THEN 1 ELSE 0 END,
        status = 'indexing', revision = s.revision + 1, due_at = $4, pages_done = NULL, pages_total = NULL
      FROM next WHERE s.number = next.number RETURNING s.*
    ), ${detachBegunOfClaimed}
    SELECT ${sourceColumns.select("s")},
      (SELECT c.created_by_key_id FROM companions c WHERE c.id = s.companion_id) AS "keyId",
      EXISTS (SELECT FROM detached) AS "isLeft"
    FROM claimed s`,
  nextDue: `SELECT s.due_at::float8 AS "dueAt" FROM knowledge_sources s
    WHERE s.due_at IS NOT NULL AND EXISTS (SELECT FROM companions c WHERE c.id = s.companion_id)
    ORDER BY s.due_at, s.number LIMIT 1`,
};

/** `isLeft`: a server that has stopped has begun an edition. */
type TakenRow = StoredSource & { keyId: string | null; isLeft: boolean };
/** Ids of accounts are between these. */
const beforeAllIds = "";
const afterAllIds = "~";

export function createKnowledgeQueue(engine: PostgresEngine, { removals }: Pick<StoreParts, "removals">): QueueMethods {
  return {
    async claim({ nowMs, leaseMs, afterAccountId, exceptAccountIds }) {
      for (const [above, below] of toRanges(afterAccountId, exceptAccountIds)) {
        const parameters = [above, below, nowMs, nowMs + leaseMs];
        const row = await engine.quickPool.once.get<TakenRow>(queueQueries.claim, parameters);
        if (row === null) continue;
        if (row.isLeft) removals.start();
        const { accountId, revision, uploadId, kind, edition, failures, keyId } = row;
        return { source: toSource(row), accountId, revision, uploadId, kind, edition, failures, keyId };
      }
      return null;
    },

    async findNextDue() {
      return (await engine.quick.get<{ dueAt: number }>(queueQueries.nextDue))?.dueAt ?? null;
    },
  };
}

/** Ids of accounts in the order of their turns: behind the last one, then from the first on; both ends excluded. */
function* toRanges(after: string | null, except: readonly string[]): Generator<[above: string, below: string]> {
  const left = [...new Set(except)].sort();
  // Nothing is between an id and this.
  const behindLast = `${after ?? ""}\u0001`;
  const parts: [string, string][] =
    after === null
      ? [[beforeAllIds, afterAllIds]]
      : [
          [after, afterAllIds],
          [beforeAllIds, behindLast],
        ];
  for (const [from, to] of parts) {
    let above = from;
    for (const id of left) {
      if (id <= above || id >= to) continue;
      yield [above, id];
      above = id;
    }
    yield [above, to];
  }
}

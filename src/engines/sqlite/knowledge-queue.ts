/** The queue of sources to read: which one is next. */
import type { KnowledgeStore } from "../../contracts/store/knowledge.ts";
import { type SourceRow, toSource } from "../store-shared/rows/knowledge.ts";
import type { SqliteEngine } from "./engine.ts";
import type { KnowledgeRemover } from "./knowledge-removal.ts";
import type { Removals } from "./removals.ts";
import { mapColumns, type StoredRow } from "./rows/columns.ts";
import { tables } from "./tables.ts";

/** Sources as rows. */
const sourceColumns = mapColumns(tables.knowledgeSources);

/** A whole row, which makes a `Source` too. */
type StoredSource = StoredRow<typeof tables.knowledgeSources> & SourceRow;

type QueueMethods = Pick<KnowledgeStore, "claim" | "findNextDue">;

interface QueueDependencies {
  remover: KnowledgeRemover;
  removals: Removals;
}

interface DueRow {
  number: number;
  accountId: string;
}

/** With fewer sources due than this, all of them are examined. */
const maxExamined = 200;

// What a deleted companion leaves is not read any more.
const isOwned = "EXISTS (SELECT 1 FROM companions WHERE id = s.companion_id)";

export const sourceQueueQueries = {
  oldest: `SELECT number, account_id AS accountId FROM knowledge_sources AS s INDEXED BY knowledge_sources_due
    WHERE due_at <= ? AND due_at IS NOT NULL AND ${isOwned}
      AND account_id NOT IN (SELECT value FROM json_each(?)) ORDER BY due_at, number LIMIT ?`,
  // From account to account, however many sources each has.
  nextAccount: `WITH RECURSIVE account(id) AS (
      SELECT (SELECT account_id FROM knowledge_sources INDEXED BY knowledge_sources_turns
        WHERE due_at IS NOT NULL AND account_id > ? ORDER BY account_id LIMIT 1)
      UNION ALL
      SELECT (SELECT account_id FROM knowledge_sources INDEXED BY knowledge_sources_turns
        WHERE due_at IS NOT NULL AND account_id > account.id ORDER BY account_id LIMIT 1)
      FROM account WHERE account.id IS NOT NULL)
    SELECT id FROM account WHERE id NOT IN (SELECT value FROM json_each(?)) AND EXISTS (
      SELECT 1 FROM knowledge_sources AS s INDEXED BY knowledge_sources_turns
      WHERE s.account_id = account.id AND s.due_at IS NOT NULL AND s.due_at <= ? AND ${isOwned}) LIMIT 1`,
  ofAccount: `SELECT number, account_id AS accountId FROM knowledge_sources AS s INDEXED BY knowledge_sources_turns
    WHERE account_id = ? AND due_at IS NOT NULL AND due_at <= ? AND ${isOwned} ORDER BY due_at, number LIMIT 1`,
};

export function createKnowledgeQueue(engine: SqliteEngine, { remover, removals }: QueueDependencies): QueueMethods {
  const selectOldest = engine.query<DueRow, [number, string, number]>(sourceQueueQueries.oldest);
  const selectNextAccount = engine.query<{ id: string }, [string, string, number]>(sourceQueueQueries.nextAccount);
  const selectOfAccount = engine.query<DueRow, [string, number]>(sourceQueueQueries.ofAccount);
  const selectDue = engine.query<{ dueAt: number | null }>(
    "SELECT min(due_at) AS dueAt FROM knowledge_sources INDEXED BY knowledge_sources_due WHERE due_at IS NOT NULL",
  );
  const take = engine.query<null, [number, number]>(
    `UPDATE knowledge_sources SET failures = failures + (status = 'indexing'), status = 'indexing',
       revision = revision + 1, pages_done = NULL, pages_total = NULL, due_at = ? WHERE number = ?`,
  );
  const selectClaimed = engine.query<StoredSource & { keyId: string | null }, [number]>(
    () => `SELECT ${sourceColumns.select("s")}, c.created_by_key_id AS keyId
     FROM knowledge_sources s JOIN companions c ON c.id = s.companion_id WHERE s.number = ?`,
  );
  /** The account's turn comes after that of the one before it in order, and the first follows the last. */
  function findNext(nowMs: number, afterAccountId: string, excepted: string): DueRow | null {
    const oldest = selectOldest.all(nowMs, excepted, maxExamined);
    if (oldest.length < maxExamined) {
      let next: DueRow | null = null;
      const [first] = oldest;
      for (const row of oldest) {
        if (row.accountId > afterAccountId && (next === null || row.accountId < next.accountId)) next = row;
      }
      if (next !== null || first === undefined) return next;
      return oldest.reduce((least, row) => (row.accountId < least.accountId ? row : least), first);
    }
    const account =
      selectNextAccount.get(afterAccountId, excepted, nowMs) ?? selectNextAccount.get("", excepted, nowMs);
    return account === null ? null : selectOfAccount.get(account.id, nowMs);
  }

  return {
    async claim({ nowMs, leaseMs, afterAccountId, exceptAccountIds }) {
      const excepted = JSON.stringify(exceptAccountIds);
      // A write would be a commit; most checks find nothing.
      const isAny = await engine.read(() => findNext(nowMs, afterAccountId ?? "", excepted) !== null);
      if (!isAny) return null;
      let isLeft = false;
      const claimed = await engine.append(() => {
        const next = findNext(nowMs, afterAccountId ?? "", excepted);
        if (next === null) return null;
        take.run(nowMs + leaseMs, next.number);
        const row = selectClaimed.get(next.number);
        if (row === null) return null;
        // Left by a server that has stopped.
        isLeft = remover.dropEditions(removals.add, row.number, row.edition, nowMs);
        const { accountId, revision, uploadId, kind, edition, failures, keyId } = row;
        return { source: toSource(row), accountId, revision, uploadId, kind, edition, failures, keyId };
      });
      if (isLeft) removals.start();
      return claimed;
    },

    findNextDue: () => engine.read(() => selectDue.get()?.dueAt ?? null),
  };
}

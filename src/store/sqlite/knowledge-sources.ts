/** Sources of companions: made, listed, queued anew and deleted. */
import { maxSources, type Source } from "../../domain/knowledge.ts";
import type { KnowledgeStore, NewSource, SourceReplacement, SourceUpload } from "../contract/knowledge.ts";
import { toPage } from "../contract/page.ts";
import type { WriteContext } from "../contract/write-context.ts";
import { toExtended, toKept, toKeptText, toSource } from "../rows/knowledge.ts";
import { tooManySources } from "../rows/refusals.ts";
import type { SqliteEngine } from "./engine.ts";
import type { KnowledgeRemover } from "./knowledge-removal.ts";
import type { KnowledgeUploads } from "./knowledge-uploads.ts";
import type { Removals } from "./removals.ts";
import { type StoredSource, sourceColumns } from "./rows/source.ts";
import type { ChangeRecorder, HoldingsKeeper } from "./scripts.ts";

type SourceMethods = Pick<KnowledgeStore, "create" | "list" | "find" | "findText" | "replace" | "refresh" | "delete">;

export interface SourceDependencies {
  changes: ChangeRecorder;
  holdings: HoldingsKeeper;
  remover: KnowledgeRemover;
  removals: Removals;
  uploads: KnowledgeUploads;
}

export type KnowledgeSources = ReturnType<typeof createKnowledgeSources>;

const beforeAll = { asc: "", desc: "~" } as const;

export function createKnowledgeSources(
  engine: SqliteEngine,
  { changes, holdings, remover, removals, uploads }: SourceDependencies,
) {
  const selectCompanion = engine.query<{ hasSources: number }, [string, string]>(
    "SELECT has_sources AS hasSources FROM companions WHERE id = ? AND account_id = ?",
  );
  const setHasSources = engine.query<null, [number, string]>("UPDATE companions SET has_sources = ? WHERE id = ?");
  const countSources = engine.query<{ count: number }, [string]>(
    "SELECT count(*) AS count FROM knowledge_sources WHERE companion_id = ?",
  );
  const selectSource = engine.query<StoredSource, [string, string, string]>(
    () => `SELECT ${sourceColumns.select("s")} FROM knowledge_sources s
     WHERE s.id = ? AND s.companion_id = ? AND s.account_id = ?`,
  );
  // At most `maxSources`, in memory: an index by id would be written for each of them, for lists alone.
  const page = (comparison: string, order: string) =>
    engine.query<StoredSource, [string, string, number]>(
      () => `SELECT ${sourceColumns.select("s")} FROM knowledge_sources s INDEXED BY knowledge_sources_companion
       WHERE s.companion_id = ? AND s.id ${comparison} ? ORDER BY s.id ${order} LIMIT ?`,
    );
  const pages = { asc: page(">", "ASC"), desc: page("<", "DESC") };
  const insertRow = sourceColumns.createInsert(engine);
  const queueAnew = engine.query<
    null,
    [string, string | null, number | null, string | null, number, string | null, number, number, number]
  >(
    `UPDATE knowledge_sources SET title = ?, url = ?, refresh_hours = ?, upload_id = ?, upload_bytes = ?, kind = ?, status = 'queued',
       error = NULL, failures = 0, revision = revision + 1, pages_done = NULL, pages_total = NULL, due_at = ?,
       updated_at = ? WHERE number = ?`,
  );

  function find(accountId: string, companionId: string, id: string): StoredSource | null {
    if (selectCompanion.get(companionId, accountId) === null) return null;
    return selectSource.get(id, companionId, accountId);
  }

  /** Call it inside a write, and `record` after it. Null if the account has no such companion. */
  function insert(accountId: string, companionId: string, source: NewSource, context: WriteContext): Source | null {
    const { nowMs } = context;
    const companion = selectCompanion.get(companionId, accountId);
    if (companion === null) return null;
    const most = source.id === companionId ? maxSources + 1 : maxSources;
    if ((countSources.get(companionId)?.count ?? 0) >= most) throw tooManySources();
    const { id, type, title, url, refreshHours, upload } = source;
    const row = {
      ...{ id, accountId, companionId, type, title, url, refreshHours, revision: 1, failures: 0 },
      ...{ status: "queued" as const, error: null, chunks: 0, bytes: 0, tokens: 0, words: 0, contentHash: null },
      ...{ ...toKept(upload), edition: null, pagesDone: null, pagesTotal: null },
      ...{ dueAt: nowMs, indexedAt: null, createdAt: nowMs, updatedAt: nowMs },
    };
    insertRow(row);
    // A source is growth also before it is read.
    holdings.checkGrowth(accountId, 0, context);
    if (companion.hasSources === 0) setHasSources.run(1, companionId);
    return toSource(row);
  }

  function record(context: WriteContext, action: string, row: { id: string; accountId: string; companionId: string }) {
    const { accountId, companionId } = row;
    changes.record(context, { accountId, action, targetId: row.id, details: { companionId } });
  }

  /** Call it inside a write. `isLeft`: something is to be removed. */
  function queue(
    row: StoredSource,
    change: SourceReplacement,
    nowMs: number,
  ): { source: Source; isLeft: boolean } | null {
    const { number, accountId, companionId, id } = row;
    const { title = row.title, url = row.url, refreshHours = row.refreshHours, upload } = change;
    const kept = upload === undefined ? row : toKept(upload);
    const isReplaced = row.uploadId !== null && kept.uploadId !== row.uploadId;
    if (isReplaced) uploads.remove(row.uploadId ?? "", nowMs);
    queueAnew.run(title, url, refreshHours, kept.uploadId, kept.uploadBytes, kept.kind, nowMs, nowMs, number);
    const isDropped = remover.dropEditions(removals.add, number, row.edition, nowMs);
    const queued = selectSource.get(id, companionId, accountId);
    return queued === null ? null : { source: toSource(queued), isLeft: isReplaced || isDropped };
  }

  async function requeue(
    [accountId, companionId, id]: [string, string, string],
    action: string,
    change: SourceReplacement,
    context: WriteContext,
  ): Promise<Source | null> {
    const queued = await uploads.storeBefore(change.upload, context.nowMs, () =>
      engine.write(() => {
        const row = find(accountId, companionId, id);
        if (row === null) return null;
        const bytesBefore = holdings.measure(accountId, context);
        const outcome = queue(row, change, context.nowMs);
        holdings.checkGrowth(accountId, bytesBefore, context);
        record(context, action, row);
        return outcome;
      }),
    );
    if (queued?.isLeft) removals.start();
    return queued?.source ?? null;
  }

  /** Of a full companion: its source of answers, made or extended. `takeQuestion` is in the same commit. */
  async function addAnswer(
    accountId: string,
    source: NewSource & { upload: SourceUpload },
    context: WriteContext,
    takeQuestion: () => boolean,
  ): Promise<Source | null> {
    const { id: companionId, upload } = source;
    const added = await engine.write(() => {
      if (!takeQuestion()) return null;
      const row = find(accountId, companionId, companionId);
      if (row === null) {
        const made = insert(accountId, companionId, source, context);
        if (made === null) return null;
        uploads.append(upload.id, upload.bytes, context.nowMs);
        record(context, "source.create", { ...made, accountId });
        return { source: made, isLeft: false };
      }
      const longer = toExtended(row, upload);
      const bytesBefore = holdings.measure(accountId, context);
      uploads.append(longer.uploadId, upload.bytes, context.nowMs);
      const outcome = queue({ ...row, ...longer }, {}, context.nowMs);
      holdings.checkGrowth(accountId, bytesBefore, context);
      record(context, "source.update", row);
      return outcome;
    });
    if (added?.isLeft) removals.start();
    return added?.source ?? null;
  }

  const methods: SourceMethods = {
    create: (accountId, companionId, source, context) =>
      uploads.storeBefore(source.upload, context.nowMs, () =>
        engine.write(() => {
          const made = insert(accountId, companionId, source, context);
          if (made !== null) record(context, "source.create", { ...made, accountId });
          return made;
        }),
      ),

    list: (accountId, companionId, { limit, afterId, order = "desc" }) =>
      engine.read(() => {
        if (selectCompanion.get(companionId, accountId) === null) return null;
        const rows = pages[order].all(companionId, afterId ?? beforeAll[order], limit + 1);
        return toPage(rows.map(toSource), limit);
      }),

    find: (accountId, companionId, id) =>
      engine.read(() => {
        const row = find(accountId, companionId, id);
        return row === null ? null : toSource(row);
      }),

    findText: (accountId, companionId, id) =>
      engine.read(() => {
        const row = find(accountId, companionId, id);
        return row === null ? null : toKeptText(row);
      }),

    replace: (accountId, companionId, id, change, context) =>
      requeue([accountId, companionId, id], "source.update", change, context),

    refresh: (accountId, companionId, id, context) =>
      requeue([accountId, companionId, id], "source.refresh", {}, context),

    delete: async (accountId, companionId, id, context) => {
      const isDeleted = await engine.write(() => {
        const row = find(accountId, companionId, id);
        if (row === null) return false;
        remover.dropSource(removals.add, row, context.nowMs);
        if (countSources.get(companionId)?.count === 0) setHasSources.run(0, companionId);
        record(context, "source.delete", row);
        return true;
      });
      if (isDeleted) removals.start();
      return isDeleted;
    },
  };
  return { ...methods, insert, addAnswer, record };
}

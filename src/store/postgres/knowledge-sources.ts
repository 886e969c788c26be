/** Sources of companions: made, listed, queued anew and deleted. */
import { maxSources, type Source } from "../../domain/knowledge.ts";
import type { KnowledgeStore, NewSource, SourceReplacement, SourceUpload } from "../contract/knowledge.ts";
import { toPage } from "../contract/page.ts";
import type { WriteContext } from "../contract/write-context.ts";
import { toExtended, toKept, toKeptText, toSource } from "../rows/knowledge.ts";
import { tooManySources } from "../rows/refusals.ts";
import { ofAccount } from "../shared/companions.ts";
import type { PostgresEngine } from "./engine.ts";
import type { SourceRemains } from "./knowledge-removal.ts";
import type { KnowledgeUploads } from "./knowledge-uploads.ts";
import type { StoreParts } from "./parts.ts";
import type { Queries } from "./queries.ts";
import { type StoredSource, sourceColumns } from "./rows/source.ts";
import { withoutNul } from "./rows/text.ts";
import type { Transaction } from "./transaction.ts";

type SourceMethods = Pick<KnowledgeStore, "create" | "list" | "find" | "findText" | "replace" | "refresh" | "delete">;

/** By its companion, which may be deleted, and only wait for its removal; no index serves the account. */
const ofOwner = (companion: string, account: string) =>
  `EXISTS (SELECT FROM companions c WHERE c.id = ${companion} AND ${ofAccount(account)})`;
const selected = sourceColumns.select("s");
// By id, in memory: a companion has few sources.
const selectPage = (comparison: string, order: string) =>
  `SELECT ${selected} FROM knowledge_sources s WHERE s.companion_id = $1 AND s.id ${comparison} $2
   ORDER BY s.id || '' ${order} LIMIT $3`;

export const sourceQueries = {
  companion: `SELECT FROM companions c WHERE c.id = $1 AND ${ofAccount("$2")}`,
  one: `SELECT ${selected} FROM knowledge_sources s
    WHERE s.id = $1 AND (s.companion_id = $2) IS TRUE AND ${ofOwner("$2", "$3")}`,
  pages: { asc: selectPage(">", "ASC"), desc: selectPage("<", "DESC") },
};

const countSources = "SELECT count(*)::int AS count FROM knowledge_sources WHERE companion_id = $1";
// Whoever deletes the companion waits, or comes first.
const lockCompanion = `${sourceQueries.companion} FOR NO KEY UPDATE`;
const beginKnowing = "UPDATE companions SET has_sources = true WHERE id = $1 AND NOT has_sources";
const endKnowing = `UPDATE companions SET has_sources = false
  WHERE id = $1 AND NOT EXISTS (SELECT FROM knowledge_sources WHERE companion_id = $1)`;
const queueAnew = `UPDATE knowledge_sources SET title = $2, url = $3, refresh_hours = $4, upload_id = $5, upload_bytes = $8, kind = $6,
    status = 'queued', error = NULL, failures = 0, revision = revision + 1, pages_done = NULL, pages_total = NULL,
    due_at = $7, updated_at = $7
  WHERE number = $1`;
const deleteOne = `DELETE FROM knowledge_sources WHERE number = $1
  RETURNING number::float8 AS number, upload_id AS "uploadId"`;
const bounds = { asc: "", desc: "~" } as const;

export interface SourceWriter {
  /** Call it inside a change of the account. Null if it has no such companion; the caller writes the audit entry. */
  insert(
    transaction: Transaction,
    accountId: string,
    companionId: string,
    source: NewSource,
    context: WriteContext,
  ): Promise<Source | null>;
  /** Of a full companion: its source of answers, made or extended. `takeQuestion` is in the same commit. */
  addAnswer(
    accountId: string,
    source: NewSource & { upload: SourceUpload },
    context: WriteContext,
    takeQuestion: (transaction: Transaction) => Promise<boolean>,
  ): Promise<Source | null>;
}

export type KnowledgeSources = SourceMethods & SourceWriter;

type Address = readonly [accountId: string, companionId: string, id: string];

export function createKnowledgeSources(
  engine: PostgresEngine,
  { changes, holdings, knowledge: remover, removals }: StoreParts,
  uploads: KnowledgeUploads,
): KnowledgeSources {
  const find = (queries: Queries, [accountId, companionId, id]: Address, lock = "") =>
    queries.get<StoredSource>(`${sourceQueries.one} ${lock}`, [id, companionId, accountId]);

  const insert: SourceWriter["insert"] = async (transaction, accountId, companionId, source, context) => {
    const { nowMs } = context;
    if ((await transaction.get(lockCompanion, [companionId, accountId])) === null) return null;
    const counted = await transaction.get<{ count: number }>(countSources, [companionId]);
    const most = source.id === companionId ? maxSources + 1 : maxSources;
    if ((counted?.count ?? 0) >= most) throw tooManySources();
    const { id, type, title, url, refreshHours, upload } = source;
    const row = {
      ...{ id, accountId, companionId, type, title: withoutNul(title), url, refreshHours, revision: 1, failures: 0 },
      ...{ status: "queued" as const, error: null, chunks: 0, bytes: 0, tokens: 0, words: 0, contentHash: null },
      ...{ ...toKept(upload), edition: null, pagesDone: null, pagesTotal: null },
      ...{ dueAt: nowMs, indexedAt: null, createdAt: nowMs, updatedAt: nowMs },
    };
    await sourceColumns.insert(transaction, [row]);
    // A source is growth also before it is read.
    await holdings.checkGrowth(transaction, accountId, 0, context);
    await transaction.run(beginKnowing, [companionId]);
    return toSource(row);
  };

  function record(transaction: Queries, context: WriteContext, action: string, [accountId, companionId, id]: Address) {
    return changes.record(transaction, context, { accountId, action, targetId: id, details: { companionId } });
  }

  /** The row is locked. */
  async function queue(transaction: Transaction, row: StoredSource, change: SourceReplacement, nowMs: number) {
    const { title = row.title, url = row.url, refreshHours = row.refreshHours, upload } = change;
    const kept = upload === undefined ? row : toKept(upload);
    if (row.uploadId !== null && kept.uploadId !== row.uploadId) await uploads.remove(transaction, row.uploadId, nowMs);
    const columns = [withoutNul(title), url, refreshHours, kept.uploadId, kept.kind, nowMs, kept.uploadBytes];
    await transaction.run(queueAnew, [row.number, ...columns]);
    await remover.dropEditions(transaction, [row.number], row.edition, nowMs);
  }

  async function requeue(address: Address, action: string, change: SourceReplacement, context: WriteContext) {
    const queued = await uploads.storeBefore(change.upload, context.nowMs, () =>
      engine.change(address[0], async (transaction) => {
        const row = await find(transaction, address, "FOR UPDATE OF s");
        if (row === null) return null;
        const bytesBefore = await holdings.measure(transaction, address[0], context);
        await queue(transaction, row, change, context.nowMs);
        await holdings.checkGrowth(transaction, address[0], bytesBefore, context);
        await record(transaction, context, action, address);
        return await find(transaction, address);
      }),
    );
    removals.start();
    return queued === null ? null : toSource(queued);
  }

  const addAnswer: SourceWriter["addAnswer"] = async (accountId, source, context, takeQuestion) => {
    const { id: companionId, upload } = source;
    const address = [accountId, companionId, companionId] as const;
    const added = await engine.change(accountId, async (transaction) => {
      // Two that come at once would both make it.
      await transaction.get(lockCompanion, [companionId, accountId]);
      if (!(await takeQuestion(transaction))) return null;
      const row = await find(transaction, address, "FOR UPDATE OF s");
      if (row === null) {
        const made = await insert(transaction, accountId, companionId, source, context);
        if (made === null) return null;
        await uploads.append(transaction, upload.id, upload.bytes, context.nowMs);
        await record(transaction, context, "source.create", address);
        return made;
      }
      const longer = toExtended(row, upload);
      const bytesBefore = await holdings.measure(transaction, accountId, context);
      await uploads.append(transaction, longer.uploadId, upload.bytes, context.nowMs);
      await queue(transaction, { ...row, ...longer }, {}, context.nowMs);
      await holdings.checkGrowth(transaction, accountId, bytesBefore, context);
      await record(transaction, context, "source.update", address);
      const queued = await find(transaction, address);
      return queued === null ? null : toSource(queued);
    });
    removals.start();
    return added;
  };

  return {
    insert,
    addAnswer,

    create: (accountId, companionId, source, context) =>
      uploads.storeBefore(source.upload, context.nowMs, () =>
        engine.change(accountId, async (transaction) => {
          const made = await insert(transaction, accountId, companionId, source, context);
          if (made !== null) await record(transaction, context, "source.create", [accountId, companionId, made.id]);
          return made;
        }),
      ),

    async list(accountId, companionId, { limit, afterId, order = "desc" }) {
      if ((await engine.quick.get(sourceQueries.companion, [companionId, accountId])) === null) return null;
      const parameters = [companionId, afterId ?? bounds[order], limit + 1];
      return toPage(
        (await engine.quick.all<StoredSource>(sourceQueries.pages[order], parameters)).map(toSource),
        limit,
      );
    },

    async find(...address) {
      const row = await find(engine.quick, address);
      return row === null ? null : toSource(row);
    },

    async findText(...address) {
      const row = await find(engine.quick, address);
      return row === null ? null : toKeptText(row);
    },

    replace: (accountId, companionId, id, change, context) =>
      requeue([accountId, companionId, id], "source.update", change, context),

    refresh: (accountId, companionId, id, context) =>
      requeue([accountId, companionId, id], "source.refresh", {}, context),

    async delete(accountId, companionId, id, context) {
      const address = [accountId, companionId, id] as const;
      const isDeleted = await engine.change(accountId, async (transaction) => {
        const row = await find(transaction, address, "FOR UPDATE OF s");
        if (row === null) return false;
        const deleted = await transaction.all<SourceRemains>(deleteOne, [row.number]);
        await remover.dropRemains(transaction, deleted, context.nowMs);
        await transaction.run(endKnowing, [companionId]);
        await record(transaction, context, "source.delete", address);
        return true;
      });
      if (isDeleted) removals.start();
      return isDeleted;
    },
  };
}

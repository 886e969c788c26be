/** Sources of companions: made, listed, queued again and deleted. */
import type {
  KnowledgeStore,
  NewSource,
  SourceCheck,
  SourceReplacement,
  SourceUpload,
} from "../../../contracts/store/knowledge.ts";
import { toPage } from "../../../contracts/store/page.ts";
import type { WriteContext } from "../../../contracts/store/write-context.ts";
import { AppError } from "../../../domain/errors.ts";
import { maxSources, type Source } from "../../../domain/knowledge.ts";
import { toLaterMs } from "../../../lib/clock.ts";
import { beforeAll } from "../rows/budgets.ts";
import { type SourceRow, toExtended, toKept, toKeptText, toSource } from "../rows/knowledge.ts";
import { withoutNul } from "../rows/text.ts";
import { changes } from "./changes.ts";
import { ofAccount, ownsCompanion, selectOwned } from "./companions.ts";
import { holdings } from "./holdings.ts";
import type { KnowledgeUploads } from "./knowledge-uploads.ts";
import { all, columns, get, insert as insertRow, run, type Script, type ScriptRunner } from "./script.ts";

type StoredSource = SourceRow & ReturnType<typeof toKept> & { number: number; edition: number | null };
type Address = readonly [accountId: string, companionId: string, id: string];

const shown = columns<StoredSource>("s", [
  ...([
    "number",
    "id",
    "companionId",
    "slug",
    "type",
    "title",
    "url",
    "refreshHours",
    "status",
    "error",
    "chunks",
  ] as const),
  ...([
    "bytes",
    "contentHash",
    "uploadHash",
    "dueAt",
    "pagesDone",
    "pagesTotal",
    "indexedAt",
    "createdAt",
    "updatedAt",
  ] as const),
  ...(["uploadId", "uploadBytes", "kind", "edition"] as const),
]);
// By id, in memory: a companion has few sources, and an index by id would be written for each of them.
const selectPage = (comparison: string, order: string) => `SELECT ${shown} FROM knowledge_sources s
  WHERE s.companion_id = $1 AND s.id || '' ${comparison} $2 ORDER BY s.id || '' ${order} LIMIT $3`;

export const sourceQueries = {
  /** By its companion, which may be deleted, and only wait for its removal; no index serves the account. */
  one: `SELECT ${shown} FROM knowledge_sources s WHERE s.id = $1 AND (s.companion_id = $2) IS TRUE
    AND EXISTS (SELECT 1 FROM companions c WHERE c.id = $2 AND ${ofAccount("$3")})`,
  pages: { asc: selectPage(">", "ASC"), desc: selectPage("<", "DESC") },
};

const countSources = "SELECT count(*) AS count FROM knowledge_sources WHERE companion_id = $1";
// Whoever deletes the companion waits, or comes first.
const lockCompanion = `${selectOwned} FOR NO KEY UPDATE`;
const selectOtherOfSlug = "SELECT id FROM knowledge_sources WHERE companion_id = $1 AND slug = $2 AND id <> $3";
const beginKnowing = "UPDATE companions SET has_sources = true WHERE id = $1 AND NOT has_sources";
const endKnowing = `UPDATE companions SET has_sources = false
  WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM knowledge_sources WHERE companion_id = $1)`;
const queueAgain = `UPDATE knowledge_sources SET title = $2, url = $3, refresh_hours = $4, upload_id = $5, upload_bytes = $6,
    kind = $7, upload_hash = $10, slug = $11, status = 'queued', error = NULL, failures = 0, revision = revision + 1, pages_done = NULL,
    pages_total = NULL, due_at = $8, updated_at = $9
  WHERE number = $1`;

export const findSource = ([accountId, companionId, id]: Address, lock = "") =>
  get<StoredSource>(`${sourceQueries.one} ${lock}`, id, companionId, accountId);
const findLocked = (address: Address) => findSource(address, "FOR UPDATE OF s");

function* record(context: WriteContext, action: string, [accountId, companionId, id]: Address): Script<void> {
  yield* changes.record(context, { accountId, action, targetId: id, details: { companionId } });
}

/** Throws `conflict`. */
function* requireSlug(companionId: string, id: string, slug: string): Script<void> {
  if ((yield* get(selectOtherOfSlug, companionId, slug, id)) === null) return;
  throw new AppError("conflict", `The companion has a source with the slug ${slug} already.`);
}

/** Null if the account has no such companion. */
function* insert(
  accountId: string,
  companionId: string,
  source: NewSource,
  context: WriteContext,
): Script<Source | null> {
  const { nowMs } = context;
  if ((yield* get(lockCompanion, companionId, accountId)) === null) return null;
  const counted = yield* get<{ count: number }>(countSources, companionId);
  const most = source.id === companionId ? maxSources + 1 : maxSources;
  if ((counted?.count ?? 0) >= most) {
    throw new AppError("conflict", `A companion has at most ${maxSources} sources. Delete one first.`);
  }
  const { id, type, title, url, refreshHours, upload, slug = null } = source;
  if (slug !== null) yield* requireSlug(companionId, id, slug);
  const row = {
    ...{
      id,
      accountId,
      companionId,
      slug,
      type,
      title: withoutNul(title),
      url,
      refreshHours,
      revision: 1,
      failures: 0,
    },
    ...{ status: "queued" as const, error: null, chunks: 0, bytes: 0, tokens: 0, words: 0, contentHash: null },
    ...{ ...toKept(upload), edition: null, pagesDone: null, pagesTotal: null },
    ...{ dueAt: nowMs, indexedAt: null, createdAt: nowMs, updatedAt: nowMs },
  };
  yield* insertRow("knowledge_sources", row);
  // A source is growth also before it is read.
  yield* holdings.checkGrowth(accountId, 0, context);
  yield* run(beginKnowing, companionId);
  yield* record(context, "source.create", [accountId, companionId, id]);
  return toSource(row);
}

/** What an engine has of its own: all leave what is to be removed to the background. */
export interface SourceRemover {
  /** The editions of the source but `kept` answer no more. */
  dropEditions(sourceNumber: number, kept: number | null, nowMs: number): Script<unknown>;
  dropSource(source: { number: number; uploadId: string | null }, nowMs: number): Script<unknown>;
  /** Unless it answers, or is dropped already. */
  dropBegun(edition: number, nowMs: number): Script<unknown>;
}

export interface SourceDependencies {
  uploads: KnowledgeUploads;
  remover: SourceRemover;
  removals: { start(): void };
}

type SourceMethods = Pick<KnowledgeStore, "create" | "list" | "find" | "findText" | "replace" | "refresh" | "delete">;

export interface KnowledgeSources extends SourceMethods {
  /** As `UnansweredStore.answer`; `takeQuestion` is in the same commit, and false if the question is not there. */
  answer(
    accountId: string,
    companionId: string,
    source: NewSource,
    context: WriteContext,
    takeQuestion: () => Script<boolean>,
  ): Promise<Source | null>;
}

export function createKnowledgeSources(
  scripts: ScriptRunner,
  { uploads, remover, removals }: SourceDependencies,
): KnowledgeSources {
  /** The row is locked. Null changes nothing of it: it is read again. */
  function* queue(row: StoredSource, change: SourceReplacement | null, nowMs: number): Script<void> {
    const { title = row.title, url = row.url, refreshHours = row.refreshHours, slug = row.slug, upload } = change ?? {};
    if (slug !== null && slug !== row.slug) yield* requireSlug(row.companionId, row.id, slug);
    const kept = upload === undefined ? row : toKept(upload);
    if (row.uploadId !== null && kept.uploadId !== row.uploadId) yield* uploads.remove(row.uploadId, nowMs);
    const fields = [withoutNul(title), url, refreshHours, kept.uploadId, kept.uploadBytes, kept.kind, nowMs];
    const updatedAt = change === null ? row.updatedAt : toLaterMs(nowMs, row.updatedAt);
    yield* run(queueAgain, row.number, ...fields, updatedAt, kept.uploadHash, slug);
    yield* remover.dropEditions(row.number, row.edition, nowMs);
  }

  async function requeue(
    address: Address,
    action: string,
    change: SourceReplacement | null,
    context: WriteContext,
    check?: SourceCheck,
  ) {
    const [accountId] = address;
    const queued = await uploads.storeBefore(change?.upload, context.nowMs, () =>
      scripts.change(accountId, function* () {
        const row = yield* findLocked(address);
        if (row === null) return null;
        check?.(toSource(row));
        const bytesBefore = yield* holdings.measure(accountId, context);
        yield* queue(row, change, context.nowMs);
        yield* holdings.checkGrowth(accountId, bytesBefore, context);
        yield* record(context, action, address);
        return yield* findSource(address);
      }),
    );
    removals.start();
    return queued === null ? null : toSource(queued);
  }

  /** Of a full companion: its source of answers, made or extended. */
  async function addAnswer(
    accountId: string,
    source: NewSource & { upload: SourceUpload },
    context: WriteContext,
    takeQuestion: () => Script<boolean>,
  ): Promise<Source | null> {
    const { id: companionId, upload } = source;
    const address = [accountId, companionId, companionId] as const;
    const added = await scripts.change(accountId, function* () {
      // Two that come at once would both make it.
      yield* get(lockCompanion, companionId, accountId);
      if (!(yield* takeQuestion())) return null;
      const row = yield* findLocked(address);
      if (row === null) {
        const made = yield* insert(accountId, companionId, source, context);
        if (made !== null) yield* uploads.append(upload.id, upload.bytes, context.nowMs);
        return made;
      }
      const longer = toExtended(row, upload);
      const bytesBefore = yield* holdings.measure(accountId, context);
      yield* uploads.append(longer.uploadId, upload.bytes, context.nowMs);
      yield* queue({ ...row, ...longer }, {}, context.nowMs);
      yield* holdings.checkGrowth(accountId, bytesBefore, context);
      yield* record(context, "source.update", address);
      const queued = yield* findSource(address);
      return queued === null ? null : toSource(queued);
    });
    removals.start();
    return added;
  }

  return {
    create: (accountId, companionId, source, context) =>
      uploads.storeBefore(source.upload, context.nowMs, () =>
        scripts.change(accountId, () => insert(accountId, companionId, source, context)),
      ),

    answer(accountId, companionId, source, context, takeQuestion) {
      const { upload } = source;
      if (source.id === companionId && upload !== null) {
        return addAnswer(accountId, { ...source, upload }, context, takeQuestion);
      }
      return uploads.storeBefore(upload, context.nowMs, () =>
        scripts.change(accountId, function* () {
          return (yield* takeQuestion()) ? yield* insert(accountId, companionId, source, context) : null;
        }),
      );
    },

    list: (accountId, companionId, { limit, afterId, order = "desc" }) =>
      scripts.read(function* () {
        if (!(yield* ownsCompanion(accountId, companionId))) return null;
        const after = afterId ?? beforeAll[order];
        const rows = yield* all<StoredSource>(sourceQueries.pages[order], companionId, after, limit + 1);
        return toPage(rows.map(toSource), limit);
      }),

    async find(...address) {
      const row = await scripts.read(() => findSource(address));
      return row === null ? null : toSource(row);
    },

    async findText(...address) {
      const row = await scripts.read(() => findSource(address));
      return row === null ? null : toKeptText(row);
    },

    replace: (accountId, companionId, id, change, context, check) =>
      requeue([accountId, companionId, id], "source.update", change, context, check),

    refresh: (accountId, companionId, id, context) =>
      requeue([accountId, companionId, id], "source.refresh", null, context),

    async delete(accountId, companionId, id, context, check) {
      const isDeleted = await scripts.change(accountId, function* () {
        const row = yield* findLocked([accountId, companionId, id]);
        if (row === null) return false;
        check?.(toSource(row));
        yield* remover.dropSource(row, context.nowMs);
        yield* run(endKnowing, companionId);
        yield* record(context, "source.delete", [accountId, companionId, id]);
        return true;
      });
      if (isDeleted) removals.start();
      return isDeleted;
    },
  };
}

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
import type { Source } from "../../../domain/knowledge.ts";
import { beforeAll } from "../rows/budgets.ts";
import { type StoredSource, sourceFields, toExtended, toKeptText, toSource } from "../rows/knowledge.ts";
import { changes } from "./changes.ts";
import { type CompanionState, companionStates, type HeldCompanion, ofAccount } from "./companion-states.ts";
import { ownsCompanion } from "./companions.ts";
import { holdings } from "./holdings.ts";
import type { KnowledgeUploads } from "./knowledge-uploads.ts";
import { all, columns, get, type Script, type ScriptRunner } from "./script.ts";
import { requireSourceList, type SourceRemover, type SourceWriter, toSourceRow } from "./source-writes.ts";
import { versions } from "./versions.ts";

type Address = readonly [accountId: string, companionId: string, id: string];

const shown = columns<StoredSource>("s", sourceFields);
// By id, in memory: a companion has few sources, and an index by id would be written for each of them.
const selectPage = (comparison: string, order: string) => `SELECT ${shown} FROM knowledge_sources s
  WHERE s.companion_id = $1 AND s.id || '' ${comparison} $2 ORDER BY s.id || '' ${order} LIMIT $3`;

// The same: by the companions of the account, whose sources are few each.
const selectOfAccount = (comparison: string, order: string) => `SELECT ${shown} FROM companions c
  JOIN knowledge_sources s ON s.companion_id = c.id
  WHERE c.account_id = $1 AND ($2 = '' OR s.status = $2) AND s.id || '' ${comparison} $3
  ORDER BY s.id || '' ${order} LIMIT $4`;

export const sourceQueries = {
  /** By its companion, which may be deleted, and only wait for its removal; no index serves the account. */
  one: `SELECT ${shown} FROM knowledge_sources s WHERE s.id = $1 AND (s.companion_id = $2) IS TRUE
    AND EXISTS (SELECT 1 FROM companions c WHERE c.id = $2 AND ${ofAccount("$3")})`,
  pages: { asc: selectPage(">", "ASC"), desc: selectPage("<", "DESC") },
  ofAccount: { asc: selectOfAccount(">", "ASC"), desc: selectOfAccount("<", "DESC") },
};

export const findSource = ([accountId, companionId, id]: Address, lock = "") =>
  get<StoredSource>(`${sourceQueries.one} ${lock}`, id, companionId, accountId);
const findLocked = (address: Address) => findSource(address, "FOR UPDATE OF s");

function* record(context: WriteContext, action: string, [accountId, companionId, id]: Address): Script<void> {
  yield* changes.record(context, { accountId, action, targetId: id, details: { companionId } });
}

export interface SourceDependencies {
  uploads: KnowledgeUploads;
  remover: SourceRemover;
  writer: SourceWriter;
  removals: { start(): void };
}

type SourceMethods = Pick<
  KnowledgeStore,
  "create" | "list" | "listOfAccount" | "find" | "findText" | "replace" | "refresh" | "delete"
>;

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
  { uploads, removals, writer }: SourceDependencies,
): KnowledgeSources {
  /** `sources`: what they are now, where that is known without another read. */
  function* finish(
    held: HeldCompanion,
    grown: { before: number; after: number },
    context: WriteContext,
    sources: CompanionState["sources"] | null = null,
  ): Script<void> {
    const { accountId } = held.companion;
    yield* versions.write(accountId, [held], context, sources === null ? [] : [{ ...held, sources }]);
    yield* holdings.checkChange(accountId, grown, context);
  }

  /** Null if the account has no such companion. The upload is stored. */
  function* insert(
    accountId: string,
    companionId: string,
    source: NewSource,
    context: WriteContext,
  ): Script<Source | null> {
    const held = yield* companionStates.lockOne(accountId, companionId);
    if (held === null) return null;
    yield* writer.change(accountId, [{ held, revision: { sourceCreates: [source] } }], context.nowMs);
    // A source is growth also before it is read.
    const row = toSourceRow(accountId, companionId, source, context.nowMs);
    yield* finish(held, { before: 0, after: 1 }, context, [...held.sources, row]);
    yield* record(context, "source.create", [accountId, companionId, source.id]);
    return toSource(row);
  }

  async function requeue(
    address: Address,
    action: string,
    change: SourceReplacement | null,
    context: WriteContext,
    check?: SourceCheck,
  ) {
    const [accountId, companionId] = address;
    const queued = await uploads.storeBefore(change?.upload, context.nowMs, () =>
      scripts.change(accountId, function* () {
        const held = yield* companionStates.lockOne(accountId, companionId);
        const row = held === null ? null : yield* findLocked(address);
        if (held === null || row === null) return null;
        check?.(toSource(row));
        const before = yield* holdings.measure(accountId, context);
        requireSourceList(held, change?.slug === undefined ? [] : [{ id: row.id, change }]);
        yield* writer.queue(row, change, context.nowMs);
        yield* finish(held, { before, after: yield* holdings.measure(accountId, context) }, context);
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
      // Two at the same time would both make it.
      yield* companionStates.lockOne(accountId, companionId);
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
      yield* writer.queue({ ...row, ...longer }, {}, context.nowMs);
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

    async listOfAccount(accountId, status, { limit, afterId, order = "desc" }) {
      const after = afterId ?? beforeAll[order];
      const query = sourceQueries.ofAccount[order];
      const rows = await scripts.read(() => all<StoredSource>(query, accountId, status ?? "", after, limit + 1));
      return toPage(rows.map(toSource), limit);
    },

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
        const held = yield* companionStates.lockOne(accountId, companionId);
        const row = held?.sources.find((source) => source.id === id);
        if (held === null || row === undefined) return false;
        check?.(toSource(row));
        yield* writer.change(accountId, [{ held, revision: { sourceDeletes: [id] } }], context.nowMs);
        const left = held.sources.filter((source) => source !== row);
        yield* finish(held, { before: 0, after: 0 }, context, left);
        yield* record(context, "source.delete", [accountId, companionId, id]);
        return true;
      });
      if (isDeleted) removals.start();
      return isDeleted;
    },
  };
}

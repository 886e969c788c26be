/** Companions in SQLite. */
import { and, eq } from "drizzle-orm";
import type { Plan } from "../../domain/account.ts";
import type { SpendingState } from "../../domain/budget.ts";
import type { Companion, CompanionSettings } from "../../domain/companion.ts";
import { type CompanionStore, type EmbedTarget, type NewCompanion, toMadeCompanion } from "../contract/companions.ts";
import { toImport } from "../rows/changes.ts";
import { foldName, parseMetadata } from "../rows/companion.ts";
import { isGranted } from "../scripts/voice-agents.ts";
import { Cache, type ReadRow } from "./cache.ts";
import { createCompanionInsert } from "./companion-insert.ts";
import { createCompanionLists } from "./companion-lists.ts";
import type { SqliteEngine } from "./engine.ts";
import type { StoreParts } from "./parts.ts";
import type { StoredRow } from "./rows/columns.ts";
import { type CompanionRow, companionColumns, toCompanion } from "./rows/companion.ts";
import { quotaDaily } from "./schema/clustered.ts";
import { companions } from "./schema/companions.ts";
import { type SpendingStateRow, spendingState } from "./spending-state.ts";

/** Limits of the cache of companions by embed token. */
const cacheLimits = { count: 500, bytes: 16 * 1024 * 1024 };

interface EmbedRow extends CompanionRow, SpendingStateRow {
  tokenId: string;
  plan: Plan | null;
  /** Whether the grant for its voice agent exists, if it has one. */
  isGranted: number;
}

interface CheckRow extends SpendingStateRow {
  holds: number;
}

/** What a change needs to know of the companion's previous state. */
type OwnedRow = Pick<StoredRow<typeof companions>, "number" | "name" | "voiceId" | "voiceAgentId" | "metadata">;

export function createCompanionStore(engine: SqliteEngine, parts: StoreParts): CompanionStore {
  const { changes, holdings, metadata, usage, voiceAgents, removals } = parts;
  const { orm } = engine;
  // Subqueries: a join of these three tables takes ten times as long as the lookups it consists of.
  const selectByToken = engine.query<EmbedRow, [string, string]>(
    () => `SELECT ${companionColumns.select("c")}, (SELECT id FROM embed_tokens WHERE token = ?) AS tokenId,
       (SELECT plan FROM accounts WHERE id = c.account_id AND suspended_at IS NULL) AS plan,
       CASE WHEN c.voice_agent_id IS NULL THEN 0 ELSE ${isGranted("c.account_id", "c.voice_agent_id")} END AS isGranted,
       ${spendingState("c.account_id")}
     FROM companions c WHERE c.id = (SELECT companion_id FROM embed_tokens WHERE token = ?) AND c.enabled = 1`,
  );
  const selectById = engine.query<CompanionRow, [string, string]>(
    () => `SELECT ${companionColumns.select("c")} FROM companions c WHERE c.id = ? AND c.account_id = ?`,
  );
  const selectOwned = engine.query<OwnedRow, [string, string]>(
    `SELECT number, name, voice_id AS voiceId, voice_agent_id AS voiceAgentId, metadata FROM companions
     WHERE id = ? AND account_id = ?`,
  );
  const checkToken = engine.query<CheckRow, [string]>(
    `SELECT (SELECT suspended_at IS NULL FROM accounts WHERE id = c.account_id) AS holds, ${spendingState("c.account_id")}
     FROM companions c WHERE c.id = (SELECT companion_id FROM embed_tokens WHERE token = ?) AND c.enabled = 1`,
  );
  const checkOwner = engine.query<CheckRow, [string, string]>(
    `SELECT (SELECT suspended_at IS NULL FROM accounts WHERE id = c.account_id) AS holds, ${spendingState("c.account_id")}
     FROM companions c WHERE c.id = ? AND c.account_id = ?`,
  );
  const rows = createCompanionInsert(engine, metadata, voiceAgents);
  const deleteByNumber = engine.query<null, [number]>("DELETE FROM companions WHERE number = ?");
  const remembered = new Cache<EmbedTarget>(engine, cacheLimits);
  const lists = createCompanionLists(engine, metadata);

  function find(accountId: string, id: string): Companion | null {
    const row = selectById.get(id, accountId);
    return row === null ? null : toCompanion(row);
  }

  function insert(accountId: string, many: readonly NewCompanion[], nowMs: number): void {
    const accountNumber = changes.requireAccount(accountId);
    rows.index(accountNumber, rows.insert(accountId, many, nowMs));
  }

  function findByToken(token: string): ReadRow<EmbedTarget> | null {
    const found = selectByToken.get(token, token);
    if (found === null || found.plan === null) return null;
    const { tokenId, plan, isGranted, isStopped, hasBudgets, ...row } = found;
    if (isGranted === 0) row.voiceAgentId = null;
    const bytes = estimateBytes(row);
    const spending = { isStopped: isStopped === 1, hasBudgets: hasBudgets === 1 };
    return { value: { companion: Object.freeze(toCompanion(row)), tokenId, plan, spending }, bytes };
  }

  return {
    create: (accountId, companion, context) =>
      engine.write(() => {
        insert(accountId, [companion], context.nowMs);
        holdings.checkNewCompanions(accountId, context);
        const made = toMadeCompanion(accountId, companion, context.nowMs);
        const details = { name: made.name };
        changes.record(context, { accountId, action: "companion.create", targetId: made.id, details });
        return made;
      }),

    createMany: (accountId, many, context) =>
      engine.write(() => {
        insert(accountId, many, context.nowMs);
        holdings.checkNewCompanions(accountId, context);
        const details = { count: many.length };
        changes.record(context, { accountId, action: "companion.import", targetId: null, details });
      }),

    createFitting: (accountId, many, context, toAnswer) =>
      engine.write(() => {
        const accountNumber = changes.requireAccount(accountId);
        const inserted = rows.insert(accountId, many, context.nowMs);
        const numbers = inserted.map(({ number }) => number);
        const refusals = holdings.findThoseWithoutRoom(accountId, numbers, context);
        const kept = inserted.filter(({ id }) => !refusals.has(id));
        for (const { id, number } of inserted) if (refusals.has(id)) deleteByNumber.run(number);
        rows.index(accountNumber, kept);
        changes.record(...toImport(accountId, kept.length, context, toAnswer(refusals)));
        return refusals;
      }),

    findByEmbedToken: (token) => engine.read(() => remembered.get(token, () => findByToken(token))),

    checkEmbedToken: (token) => engine.read(() => toRight(checkToken.get(token))),

    checkOwned: (accountId, id) => engine.read(() => toRight(checkOwner.get(id, accountId))),

    getChangeMark: () => engine.read(() => engine.readChangeMark()),

    find: (accountId, id) => engine.read(() => find(accountId, id)),

    list: (accountId, query, page) => lists.list(accountId, query, page),
    countByModel: () => lists.countByModel(),

    update: (accountId, id, change, context) =>
      engine.write(() => {
        const before = selectOwned.get(id, accountId);
        const current = before === null || typeof change !== "function" ? null : find(accountId, id);
        if (before === null) return null;
        const patch = typeof change !== "function" ? change : current === null ? {} : change(current);
        if (current !== null && Object.keys(patch).length === 0) return current;
        const { voiceId = before.voiceId, voiceAgentId = before.voiceAgentId } = patch;
        voiceAgents.check(accountId, [{ voiceId, voiceAgentId }], before.voiceAgentId);
        const bytesBefore = holdings.measure(accountId, context);
        if (patch.voiceId === null) voiceAgents.dismiss([id], context.nowMs);
        orm
          .update(companions)
          .set(toChangedColumns(patch, context.nowMs))
          .where(eq(companions.number, before.number))
          .run();
        holdings.checkGrowth(accountId, bytesBefore, context);
        if (patch.metadata !== undefined) {
          const accountNumber = changes.requireAccount(accountId);
          metadata.replace(accountNumber, before.number, parseMetadata(before.metadata), patch.metadata);
        }
        const companion = find(accountId, id);
        const details = { changed: Object.keys(patch) };
        changes.record(context, { accountId, action: "companion.update", targetId: id, details });
        return companion;
      }),

    delete: async (accountId, id, context, check) => {
      const isDeleted = await engine.write(() => {
        const row = selectOwned.get(id, accountId);
        if (row === null) return false;
        const current = check === undefined ? null : find(accountId, id);
        if (current !== null) check?.(current);
        const accountNumber = changes.requireAccount(accountId);
        voiceAgents.dismiss([id], context.nowMs);
        metadata.replace(accountNumber, row.number, parseMetadata(row.metadata), {});
        usage.keepLabel(id);
        orm.delete(quotaDaily).where(eq(quotaDaily.companionId, id)).run();
        // Deletes the row's embed tokens too.
        orm
          .delete(companions)
          .where(and(eq(companions.id, id), eq(companions.accountId, accountId)))
          .run();
        removals.add("companion", id, row.number, context.nowMs);
        const details = { name: row.name };
        changes.record(context, { accountId, action: "companion.delete", targetId: id, details });
        return true;
      });
      if (isDeleted) removals.start();
      return isDeleted;
    },
  };
}

function toRight(row: CheckRow | null): SpendingState | null {
  return row?.holds === 1 ? { isStopped: row.isStopped === 1, hasBudgets: row.hasBudgets === 1 } : null;
}

/**
 * Two bytes per character, the most that most strings take, and as much again for derived objects; plus the objects
 * themselves.
 */
function estimateBytes(row: CompanionRow): number {
  let characters = 0;
  for (const value of Object.values(row)) if (typeof value === "string") characters += value.length;
  return 1024 + 4 * characters;
}

function toChangedColumns(patch: Partial<CompanionSettings>, nowMs: number) {
  const folded = patch.name === undefined ? {} : { nameFolded: foldName(patch.name) };
  return { ...patch, ...folded, updatedAt: nowMs };
}

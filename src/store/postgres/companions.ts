/** Companions in PostgreSQL. */
import type { Plan } from "../../domain/account.ts";
import type { SpendingState } from "../../domain/budget.ts";
import type { Companion, CompanionSettings } from "../../domain/companion.ts";
import { type CompanionStore, type EmbedTarget, type NewCompanion, toMadeCompanion } from "../contract/companions.ts";
import { toImport } from "../rows/changes.ts";
import { foldName, parseMetadata } from "../rows/companion.ts";
import { ofAccount } from "../scripts/companions.ts";
import { isGranted } from "../scripts/voice-agents.ts";
import { createCompanionInsert } from "./companion-insert.ts";
import { createCompanionLists } from "./companion-lists.ts";
import type { PostgresEngine } from "./engine.ts";
import type { StoreParts } from "./parts.ts";
import type { Queries } from "./queries.ts";
import { type CompanionRow, companionColumns, toCompanion } from "./rows/companion.ts";
import { spendingState } from "./spending-state.ts";
import type { Transaction } from "./transaction.ts";

interface EmbedRow extends CompanionRow {
  lookupKey: string;
  tokenId: string;
  plan: Plan;
  /** Whether the grant for its voice agent exists, if it has one. */
  isGranted: boolean;
  isStopped: boolean;
  hasBudgets: boolean;
  snapshot: string;
}

type CheckRow = SpendingState & { lookupKey: string };

/** What a change needs to know of the companion's previous state. */
type OwnedRow = Pick<CompanionRow, "name" | "voiceId" | "voiceAgentId" | "metadata"> & { number: number };

/**
 * Enabled companions of accounts that are not suspended, by the tokens in `$1`. `coalesce` keeps PostgreSQL from the index
 * of all enabled ones.
 */
const byToken = `FROM embed_tokens t JOIN companions c ON c.id = t.companion_id JOIN accounts a ON a.id = c.account_id
  WHERE t.token = ANY($1::text[]) AND coalesce(c.enabled, false) AND a.suspended_at IS NULL`;

export const companionQueries = {
  byToken: `SELECT t.token AS "lookupKey", t.id AS "tokenId", a.plan, ${companionColumns.select("c")},
      c.voice_agent_id IS NOT NULL AND ${isGranted("c.account_id", "c.voice_agent_id")} AS "isGranted",
      ${spendingState("c.account_id")}, pg_current_snapshot()::text AS snapshot ${byToken}`,
  checkToken: `SELECT t.token AS "lookupKey", ${spendingState("c.account_id")} ${byToken}`,
  checkOwner: `SELECT c.id AS "lookupKey", c.account_id AS "accountId", ${spendingState("c.account_id")}
    FROM companions c JOIN accounts a ON a.id = c.account_id
    WHERE c.id = ANY($1::text[]) AND a.suspended_at IS NULL`,
  byId: `SELECT ${companionColumns.select("c")} FROM companions c WHERE c.id = $1 AND ${ofAccount("$2")}`,
  /** To be locked: what becomes of its voice agent is decided by one at a time. */
  owned: `SELECT number::float8 AS number, name, voice_id AS "voiceId", voice_agent_id AS "voiceAgentId", metadata
    FROM companions c WHERE c.id = $1 AND ${ofAccount("$2")}`,
};

export function createCompanionStore(engine: PostgresEngine, parts: StoreParts): CompanionStore {
  const { arrivals, changes, holdings, metadata, usage, voiceAgents, removals } = parts;
  const rows = createCompanionInsert(parts);
  const lists = createCompanionLists(engine, metadata);
  const findTarget = engine.lookup<EmbedRow, EmbedTarget>(companionQueries.byToken, {
    read: toTarget,
    begin() {
      const note = arrivals.begin();
      return ([first]) => {
        if (first !== undefined) note(first.snapshot);
      };
    },
  });
  const checkToken = engine.lookup<CheckRow>(companionQueries.checkToken);
  const findOwner = engine.lookup<CheckRow & { accountId: string }>(companionQueries.checkOwner);
  let marks = 0;

  async function find(queries: Queries, accountId: string, id: string): Promise<Companion | null> {
    const row = await queries.get<CompanionRow>(companionQueries.byId, [id, accountId]);
    return row === null ? null : toCompanion(row);
  }

  async function insert(transaction: Transaction, accountId: string, many: readonly NewCompanion[], nowMs: number) {
    const accountNumber = await changes.requireAccount(transaction, accountId);
    await rows.index(transaction, accountNumber, await rows.insert(transaction, accountId, many, nowMs));
  }

  const lockOwned = (transaction: Transaction, accountId: string, id: string, mode: "UPDATE" | "NO KEY UPDATE") =>
    transaction.get<OwnedRow>(`${companionQueries.owned} FOR ${mode}`, [id, accountId]);

  return {
    create: (accountId, companion, context) =>
      engine.change(accountId, async (transaction) => {
        await insert(transaction, accountId, [companion], context.nowMs);
        await holdings.checkNewCompanions(transaction, accountId, context);
        const made = toMadeCompanion(accountId, companion, context.nowMs);
        const details = { name: made.name };
        await changes.record(transaction, context, {
          accountId,
          action: "companion.create",
          targetId: made.id,
          details,
        });
        return made;
      }),

    createMany: (accountId, many, context) =>
      engine.changeHeavy(accountId, async (transaction) => {
        await insert(transaction, accountId, many, context.nowMs);
        await holdings.checkNewCompanions(transaction, accountId, context);
        const details = { count: many.length };
        await changes.record(transaction, context, { accountId, action: "companion.import", targetId: null, details });
      }),

    createFitting: (accountId, many, context, toAnswer) =>
      engine.changeHeavy(accountId, async (transaction) => {
        const accountNumber = await changes.requireAccount(transaction, accountId);
        const inserted = await rows.insert(transaction, accountId, many, context.nowMs);
        const numbers = inserted.map(({ number }) => number);
        const refusals = await holdings.findThoseWithoutRoom(transaction, accountId, numbers, context);
        const refused = inserted.filter(({ id }) => refusals.has(id));
        const kept = inserted.filter(({ id }) => !refusals.has(id));
        if (refused.length > 0) {
          const gone = refused.map(({ number }) => number);
          await transaction.run("DELETE FROM companions WHERE number = ANY($1::float8[]::bigint[])", [gone]);
        }
        await rows.index(transaction, accountNumber, kept);
        await changes.record(transaction, ...toImport(accountId, kept.length, context, toAnswer(refusals)));
        return refusals;
      }),

    findByEmbedToken: findTarget,

    checkEmbedToken: async (token) => toSpendingState(await checkToken(token)),

    checkOwned: async (accountId, id) => {
      const owned = await findOwner(id);
      return owned?.accountId === accountId ? toSpendingState(owned) : null;
    },

    // A mark that follows all commits of all servers would cost each of them more than the checks, which share a query.
    getChangeMark: async () => ++marks,

    find: (accountId, id) => find(engine.quick, accountId, id),

    list: (accountId, query, page) => lists.list(accountId, query, page),
    countByModel: () => lists.countByModel(),

    update: (accountId, id, change, context) =>
      engine.change(accountId, async (transaction) => {
        const before = await lockOwned(transaction, accountId, id, "NO KEY UPDATE");
        if (before === null) return null;
        const current = typeof change === "function" ? await find(transaction, accountId, id) : null;
        const patch = typeof change !== "function" ? change : current === null ? {} : change(current);
        if (current !== null && Object.keys(patch).length === 0) return current;
        const { voiceId = before.voiceId, voiceAgentId = before.voiceAgentId } = patch;
        await voiceAgents.check(transaction, accountId, [{ voiceId, voiceAgentId }], before.voiceAgentId);
        const bytesBefore = await holdings.measure(transaction, accountId, context);
        if (patch.voiceId === null) await voiceAgents.dismiss(transaction, [id], context.nowMs);
        const changed = toChangedColumns(patch, context.nowMs);
        await companionColumns.update(transaction, changed, "number = $1", [before.number]);
        await holdings.checkGrowth(transaction, accountId, bytesBefore, context);
        if (patch.metadata !== undefined) {
          const accountNumber = await changes.requireAccount(transaction, accountId);
          const { number } = before;
          await metadata.replace(transaction, accountNumber, number, parseMetadata(before.metadata), patch.metadata);
        }
        const companion = await find(transaction, accountId, id);
        const details = { changed: Object.keys(patch) };
        await changes.record(transaction, context, { accountId, action: "companion.update", targetId: id, details });
        return companion;
      }),

    delete: async (accountId, id, context, check) => {
      const isDeleted = await engine.change(accountId, async (transaction) => {
        // Turns and sessions that are just being counted come first.
        await transaction.lock(`companion ${id}`);
        const row = await lockOwned(transaction, accountId, id, "UPDATE");
        if (row === null) return false;
        const current = check === undefined ? null : await find(transaction, accountId, id);
        if (current !== null) check?.(current);
        const accountNumber = await changes.requireAccount(transaction, accountId);
        await voiceAgents.dismiss(transaction, [id], context.nowMs);
        await metadata.replace(transaction, accountNumber, row.number, parseMetadata(row.metadata), {});
        await usage.keepLabel(transaction, id);
        await transaction.run("DELETE FROM quota_daily WHERE companion_id = $1", [id]);
        // Deletes the row's embed tokens too.
        await transaction.run("DELETE FROM companions WHERE number = $1", [row.number]);
        await removals.add(transaction, "companion", id, row.number, context.nowMs);
        const details = { name: row.name };
        await changes.record(transaction, context, { accountId, action: "companion.delete", targetId: id, details });
        return true;
      });
      if (isDeleted) removals.start();
      return isDeleted;
    },
  };
}

function toSpendingState(row: SpendingState | null): SpendingState | null {
  return row === null ? null : { isStopped: row.isStopped, hasBudgets: row.hasBudgets };
}

function toTarget(found: EmbedRow): EmbedTarget {
  const { lookupKey: _, tokenId, plan, isGranted, isStopped, hasBudgets, snapshot: __, ...row } = found;
  if (!isGranted) row.voiceAgentId = null;
  return { companion: Object.freeze(toCompanion(row)), tokenId, plan, spending: { isStopped, hasBudgets } };
}

function toChangedColumns(patch: Partial<CompanionSettings>, nowMs: number) {
  const folded = patch.name === undefined ? {} : { nameFolded: foldName(patch.name) };
  return { ...patch, ...folded, updatedAt: nowMs };
}

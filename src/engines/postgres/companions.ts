/** Companions as PostgreSQL finds them: calls of one turn of the event loop share a query. */
import type { CompanionStore, EmbedTarget } from "../../contracts/store/companions.ts";
import type { Plan } from "../../domain/account.ts";
import type { SpendingState } from "../../domain/budget.ts";
import type { Companion } from "../../domain/companion.ts";
import { ofAccount } from "../store-shared/scripts/companion-states.ts";
import type { CompanionParts, CompanionWriter } from "../store-shared/scripts/companion-writes.ts";
import { createCompanionChanges } from "../store-shared/scripts/companions.ts";
import { part } from "../store-shared/scripts/script.ts";
import { isGranted } from "../store-shared/scripts/voice-agents.ts";
import { createCompanionLists } from "./companion-lists.ts";
import { type CompanionRow, companionColumns, toCompanion } from "./companion-reader.ts";
import type { PostgresEngine } from "./engine.ts";
import type { StoreParts } from "./parts.ts";
import type { Queries } from "./queries.ts";
import { spendingState } from "./spending-ledger.ts";
import type { Transaction } from "./transaction.ts";

interface EmbedRow extends CompanionRow {
  lookupKey: string;
  tokenId: string;
  plan: Plan;
  /** Whether the grant for its voice agent exists, if it has one. */
  isGranted: boolean;
  isStopped: boolean;
  hasBudgets: boolean;
  hasWebhooks: boolean;
  snapshot: string;
}

type CheckRow = SpendingState & { lookupKey: string };

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
  bySlug: `SELECT ${companionColumns.select("c")} FROM companions c WHERE c.slug = $1 AND c.account_id = $2`,
  byId: `SELECT ${companionColumns.select("c")} FROM companions c WHERE c.id = $1 AND ${ofAccount("$2")}`,
};

export function createCompanionParts({ events, metadata, usage }: StoreParts): CompanionParts {
  return {
    index: (...of) => part((transaction: Transaction) => metadata.add(transaction, ...of)),
    reindex: (...of) => part((transaction: Transaction) => metadata.replace(transaction, ...of)),
    keepLabel: (...of) => part((transaction: Queries) => usage.keepLabel(transaction, ...of)),
    emit: (newEvents) => part((transaction: Transaction) => events.emit(transaction, newEvents)),
  };
}

export function createCompanionStore(
  engine: PostgresEngine,
  parts: StoreParts,
  writer: CompanionWriter,
): CompanionStore {
  const { arrivals, metadata, removals, scripts } = parts;
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

  return {
    ...createCompanionChanges(scripts, writer, removals),

    findByEmbedToken: findTarget,

    checkEmbedToken: async (token) => toSpendingState(await checkToken(token)),

    checkOwned: async (accountId, id) => {
      const owned = await findOwner(id);
      return owned?.accountId === accountId ? toSpendingState(owned) : null;
    },

    // A mark that follows all commits of all servers would cost each of them more than the checks, which share a query.
    getChangeMark: async () => ++marks,

    find: (accountId, id) => find(engine.quick, accountId, id),

    async findBySlug(accountId, slug) {
      const row = await engine.quick.get<CompanionRow>(companionQueries.bySlug, [slug, accountId]);
      return row === null ? null : toCompanion(row);
    },

    list: (accountId, query, page) => lists.list(accountId, query, page),
    countByModel: () => lists.countByModel(),
  };
}

function toSpendingState(row: SpendingState | null): SpendingState | null {
  if (row === null) return null;
  const { isStopped, hasBudgets, hasWebhooks } = row;
  return { isStopped, hasBudgets, hasWebhooks };
}

function toTarget(found: EmbedRow): EmbedTarget {
  const { lookupKey: _, tokenId, plan, isGranted, isStopped, hasBudgets, hasWebhooks, snapshot: __, ...row } = found;
  if (!isGranted) row.voiceAgentId = null;
  const spending = { isStopped, hasBudgets, hasWebhooks };
  return { companion: Object.freeze(toCompanion(row)), tokenId, plan, spending };
}

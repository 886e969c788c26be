/** Companions as SQLite finds them: by token from a cache. */
import type { CompanionStore, EmbedTarget } from "../../contracts/store/companions.ts";
import type { Plan } from "../../domain/account.ts";
import type { SpendingState } from "../../domain/budget.ts";
import type { Companion } from "../../domain/companion.ts";
import type { CompanionParts, CompanionWriter } from "../store-shared/scripts/companion-writes.ts";
import { createCompanionChanges } from "../store-shared/scripts/companions.ts";
import { part } from "../store-shared/scripts/script.ts";
import { isGranted } from "../store-shared/scripts/voice-agents.ts";
import { createCompanionLists } from "./companion-lists.ts";
import { type CompanionRow, companionColumns, toCompanion } from "./companion-reader.ts";
import type { SqliteEngine } from "./engine.ts";
import type { StoreParts } from "./parts.ts";
import { type SpendingStateRow, spendingState } from "./spending-ledger.ts";

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

export function createCompanionParts({ events, metadata, usage }: StoreParts): CompanionParts {
  return {
    index: (...of) => part(() => metadata.add(...of)),
    reindex: (...of) => part(() => metadata.replace(...of)),
    keepLabel: (...of) => part(() => usage.keepLabel(...of)),
    emit: (newEvents) =>
      part(() => {
        for (const event of newEvents) events.emit(event);
      }),
  };
}

export function createCompanionStore(engine: SqliteEngine, parts: StoreParts, writer: CompanionWriter): CompanionStore {
  const { metadata, removals, scripts } = parts;
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
  const selectBySlug = engine.query<CompanionRow, [string, string]>(
    () => `SELECT ${companionColumns.select("c")} FROM companions c WHERE c.slug = ? AND c.account_id = ?`,
  );
  const checkToken = engine.query<CheckRow, [string]>(
    `SELECT (SELECT suspended_at IS NULL FROM accounts WHERE id = c.account_id) AS holds, ${spendingState("c.account_id")}
     FROM companions c WHERE c.id = (SELECT companion_id FROM embed_tokens WHERE token = ?) AND c.enabled = 1`,
  );
  const checkOwner = engine.query<CheckRow, [string, string]>(
    `SELECT (SELECT suspended_at IS NULL FROM accounts WHERE id = c.account_id) AS holds, ${spendingState("c.account_id")}
     FROM companions c WHERE c.id = ? AND c.account_id = ?`,
  );
  const remembered = new Cache<EmbedTarget>(engine, cacheLimits);
  const lists = createCompanionLists(engine, metadata);

  function find(accountId: string, id: string): Companion | null {
    const row = selectById.get(id, accountId);
    return row === null ? null : toCompanion(row);
  }

  function findByToken(token: string): ReadRow<EmbedTarget> | null {
    const found = selectByToken.get(token, token);
    if (found === null || found.plan === null) return null;
    const { tokenId, plan, isGranted, isStopped, hasBudgets, hasWebhooks, ...row } = found;
    if (isGranted === 0) row.voiceAgentId = null;
    const bytes = estimateBytes(row);
    const spending = toSpendingState({ isStopped, hasBudgets, hasWebhooks });
    return { value: { companion: Object.freeze(toCompanion(row)), tokenId, plan, spending }, bytes };
  }

  return {
    ...createCompanionChanges(scripts, writer, removals),

    findByEmbedToken: (token) => engine.read(() => remembered.get(token, () => findByToken(token))),

    checkEmbedToken: (token) => engine.read(() => toRight(checkToken.get(token))),

    checkOwned: (accountId, id) => engine.read(() => toRight(checkOwner.get(id, accountId))),

    getChangeMark: () => engine.read(() => engine.readChangeMark()),

    find: (accountId, id) => engine.read(() => find(accountId, id)),

    findBySlug: (accountId, slug) =>
      engine.read(() => {
        const row = selectBySlug.get(slug, accountId);
        return row === null ? null : toCompanion(row);
      }),

    list: (accountId, query, page) => lists.list(accountId, query, page),
    countByModel: () => lists.countByModel(),
  };
}

function toRight(row: CheckRow | null): SpendingState | null {
  return row?.holds === 1 ? toSpendingState(row) : null;
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

function toSpendingState({ isStopped, hasBudgets, hasWebhooks }: SpendingStateRow): SpendingState {
  return { isStopped: isStopped === 1, hasBudgets: hasBudgets === 1, hasWebhooks: hasWebhooks === 1 };
}

/** At most `count` rows, which together take at most `bytes`; a row larger than a sixteenth of that is not cached. */
interface CacheLimits {
  readonly count: number;
  readonly bytes: number;
}

/** A row with its size in memory, or a slightly higher estimate. */
interface ReadRow<Value> {
  readonly value: Value;
  readonly bytes: number;
}

/**
 * Rows that every request needs, cached until anything at all is committed. A lookup under SQLite's locks, plus
 * building the object, takes several times as long as checking for changes. Never stale: see `readChangeMark`. Misses
 * are not cached, so that guesses cannot fill it.
 */
export class Cache<Value extends object> {
  readonly #engine: Pick<SqliteEngine, "readChangeMark">;
  readonly #limits: CacheLimits;
  readonly #values = new Map<string, Value>();
  #heldBytes = 0;
  #mark = -1;

  constructor(engine: Pick<SqliteEngine, "readChangeMark">, limits: CacheLimits) {
    this.#engine = engine;
    this.#limits = limits;
  }

  /** Call it inside the engine's `read`. The result is shared and must not be changed. */
  get(key: string, read: () => ReadRow<Value> | null): Value | null {
    const mark = this.#engine.readChangeMark();
    if (mark !== this.#mark) {
      this.#mark = mark;
      this.#clear();
    }
    const known = this.#values.get(key);
    if (known !== undefined) return known;
    const row = read();
    if (row === null) return null;
    const { count, bytes } = this.#limits;
    if (row.bytes > bytes / 16) return row.value;
    if (this.#values.size >= count || this.#heldBytes + row.bytes > bytes) this.#clear();
    this.#values.set(key, row.value);
    this.#heldBytes += row.bytes;
    return row.value;
  }

  #clear(): void {
    this.#values.clear();
    this.#heldBytes = 0;
  }
}

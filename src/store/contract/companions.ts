/** Companions, found by account, embed token or metadata. */
import type { Plan } from "../../domain/account.ts";
import type { SpendingState } from "../../domain/budget.ts";
import type { Companion, CompanionSettings } from "../../domain/companion.ts";
import type { Page, PageRequest } from "./page.ts";
import type { WriteContext } from "./write-context.ts";

export interface NewCompanion extends CompanionSettings {
  id: string;
  createdByKeyId: string | null;
  /** The first embed token. */
  embedToken: { id: string; token: string };
}

/** The companion that `create` returns, created at `context.nowMs`. */
export function toMadeCompanion(accountId: string, companion: NewCompanion, nowMs: number): Companion {
  const { embedToken, ...rest } = companion;
  return { ...rest, accountId, embedToken: embedToken.token, createdAt: nowMs, updatedAt: nowMs };
}

/** What an embed request needs, read in one lookup by token. */
export interface EmbedTarget {
  /** As visitors may use it: `voiceAgentId` is null if the account has no grant for that agent (any more). */
  companion: Companion;
  tokenId: string;
  plan: Plan;
  spending: SpendingState;
}

/** One `metadata.<path>=<value>` of a query: the path as written after `metadata.`, the value as text. */
export interface MetadataFilter {
  path: string;
  value: string;
}

export interface CompanionQuery {
  /** All must match; semantics in `docs/api.md`. */
  metadata: readonly MetadataFilter[];
  /** Substring of the name, or an exact id, both ignoring case. */
  q: string | null;
}

/**
 * `create`, `createMany` and `update` reject with `invalid_request` naming `voice_agent_id`, and write nothing, if the
 * account may not use that agent (`voice.canUseAgent`), or if the companion would also have a `voiceId`. The check is
 * part of the write's transaction, so neither a revoked grant nor concurrent updates can bypass it. A companion may
 * keep the agent that it already has even without a grant: visitors cannot use it then.
 */
export interface CompanionStore {
  /** Audit: `companion.create`. */
  create(accountId: string, companion: NewCompanion, context: WriteContext): Promise<Companion>;
  /** Many in one commit, for imports: all or none. */
  createMany(accountId: string, companions: readonly NewCompanion[], context: WriteContext): Promise<void>;
  /**
   * The companion of a token, or null if the token is unknown or revoked, the companion is disabled, or its account is
   * suspended. One indexed lookup. The result may be cached until any process commits a change made by people: a
   * request never sees a token, companion or account as it was before the request arrived. The companion is frozen,
   * because it may be shared.
   */
  findByEmbedToken(token: string): Promise<EmbedTarget | null>;
  /**
   * What its account may spend if `findByEmbedToken` would find a companion, and null if not; checked repeatedly while a
   * reply is running.
   */
  checkEmbedToken(token: string): Promise<SpendingState | null>;
  /** The same if the account has the companion, enabled or not, and is not suspended. */
  checkOwned(accountId: string, id: string): Promise<SpendingState | null>;
  /**
   * A number that stays the same only while no companion, embed token or account changes, in this process or another:
   * what was read under it is still valid.
   */
  getChangeMark(): Promise<number>;
  find(accountId: string, id: string): Promise<Companion | null>;
  list(accountId: string, query: CompanionQuery, page: PageRequest): Promise<Page<Companion>>;
  /**
   * Sets the given fields, `metadata` as a whole. If `voiceId` is cleared, a managed voice agent goes to the outbox in
   * the same commit. Null if absent. Audit: `companion.update` with the names of the fields.
   */
  update(
    accountId: string,
    id: string,
    patch: Partial<CompanionSettings>,
    context: WriteContext,
  ): Promise<Companion | null>;
  /**
   * Deletes the companion with its tokens, conversations and index rows; usage is kept; a managed voice agent goes to
   * the outbox. Its tokens are invalid from the first commit on; the rest may follow in chunks. False if absent. Audit:
   * `companion.delete`.
   */
  delete(accountId: string, id: string, context: WriteContext): Promise<boolean>;
}

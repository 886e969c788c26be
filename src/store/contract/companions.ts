/** Companions, found by account, embed token or metadata. */
import type { Plan } from "../../domain/account.ts";
import type { Companion, CompanionSettings } from "../../domain/companion.ts";
import type { Page, PageRequest } from "./page.ts";
import type { WriteContext } from "./write-context.ts";

export interface NewCompanion extends CompanionSettings {
  id: string;
  createdByKeyId: string | null;
  /** Its first embed token. */
  embedToken: { id: string; token: string };
}

/** The companion that `create` makes, at `context.nowMs`. */
export function toMadeCompanion(accountId: string, companion: NewCompanion, nowMs: number): Companion {
  const { embedToken, ...rest } = companion;
  return { ...rest, accountId, embedToken: embedToken.token, createdAt: nowMs, updatedAt: nowMs };
}

/** What an embed request needs to know, read in one lookup by token. */
export interface EmbedTarget {
  /** As visitors may use it: `voiceAgentId` is null where the account has no grant for that agent (any more). */
  companion: Companion;
  tokenId: string;
  plan: Plan;
}

/** One `metadata.<path>=<value>` of a query: the path as written after `metadata.`, the value as text. */
export interface MetadataFilter {
  path: string;
  value: string;
}

export interface CompanionQuery {
  /** All must match; semantics in `docs/api.md`. */
  metadata: readonly MetadataFilter[];
  /** Substring of the name, or an exact id, both in any case. */
  q: string | null;
}

/**
 * `create`, `createMany` and `update` reject with `invalid_request` naming `voice_agent_id`, and write nothing, where
 * the account may not use that agent (`voice.canUseAgent`), or where the companion would have a `voiceId` too. The check
 * is part of the write's transaction: no revoked grant and no two updates at once come past it. An agent that the
 * companion has already may stay, also where its grant is gone: it is of no use to visitors then.
 */
export interface CompanionStore {
  /** Audit: `companion.create`. */
  create(accountId: string, companion: NewCompanion, context: WriteContext): Promise<Companion>;
  /** Many at once, in one commit, for imports: all or none. */
  createMany(accountId: string, companions: readonly NewCompanion[], context: WriteContext): Promise<void>;
  /**
   * The companion behind a token, or null where the token is unknown or revoked, the companion is disabled, or its
   * account is suspended. One indexed lookup, whose outcome may be kept in memory until any process commits a change
   * that people made: a request never sees a token, companion or account as it was before it arrived. The companion is
   * frozen, and may be handed out many times.
   */
  findByEmbedToken(token: string): Promise<EmbedTarget | null>;
  /** Whether `findByEmbedToken` would find something: the question that is asked again and again while a reply runs. */
  checkEmbedToken(token: string): Promise<boolean>;
  /** Whether the account has the companion, disabled or not, and is not suspended. */
  checkOwned(accountId: string, id: string): Promise<boolean>;
  /**
   * A number that stands still only while no companion, embed token or account changes, in this process or another: what
   * was asked under it need not be asked again.
   */
  getChangeMark(): Promise<number>;
  find(accountId: string, id: string): Promise<Companion | null>;
  list(accountId: string, query: CompanionQuery, page: PageRequest): Promise<Page<Companion>>;
  /**
   * Sets the given fields, `metadata` as a whole. A managed voice agent goes to the outbox in the same commit when
   * `voiceId` is cleared. Null when absent. Audit: `companion.update` with the fields' names.
   */
  update(
    accountId: string,
    id: string,
    patch: Partial<CompanionSettings>,
    context: WriteContext,
  ): Promise<Companion | null>;
  /**
   * Deletes it with its tokens, conversations and index rows; usage is kept; a managed voice agent goes to the outbox.
   * Its tokens are invalid from the first commit on; the rest may follow in chunks. False when absent.
   * Audit: `companion.delete`.
   */
  delete(accountId: string, id: string, context: WriteContext): Promise<boolean>;
}

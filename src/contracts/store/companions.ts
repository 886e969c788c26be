/** Companions, found by account, embed token or metadata. */
import type { Plan } from "../../domain/account.ts";
import type { SpendingState } from "../../domain/budget.ts";
import type { Companion, CompanionSettings } from "../../domain/companion.ts";
import type { AppError } from "../../domain/errors.ts";
import type { IdempotentWrite } from "./idempotency.ts";
import type { Page, PageRequest } from "./page.ts";
import type { WriteContext } from "./write-context.ts";

export interface NewCompanion extends CompanionSettings {
  id: string;
  createdByKeyId: string | null;
  /** The first embed token. */
  embedToken: { id: string; token: string };
}

/** Why companions were not made, by their ids. */
export type Refusals = ReadonlyMap<string, AppError>;

/** The companion that `create` returns, created at `context.nowMs`. */
export function toMadeCompanion(accountId: string, companion: NewCompanion, nowMs: number): Companion {
  const { embedToken, ...rest } = companion;
  const face = { avatarHash: null, avatarBytes: null, seenOn: null };
  const facts = {
    ...face,
    hasSources: false,
    toolCount: 0,
    hadPeople: false,
    embedToken: embedToken.token,
    version: 1,
  };
  return { ...rest, ...facts, accountId, createdAt: nowMs, updatedAt: nowMs };
}

/** What an embed request needs, read in one lookup by token. */
export interface EmbedTarget {
  /** As visitors may use it: `voiceAgentId` is null if the account has no grant for that agent (any more). */
  companion: Companion;
  tokenId: string;
  plan: Plan;
  spending: SpendingState;
}

/** One filter of a query, such as `metadata.<path>=<value>`. */
export interface MetadataFilter {
  /** Names joined by dots, each of which may be part of a name too. */
  path: string;
  /** As text. */
  value: string;
  /** The path is one key at the top, with its dots: what is nested does not match. */
  isKey?: true;
}

export interface CompanionQuery {
  /** All must match; semantics in `docs/api.md`. */
  metadata: readonly MetadataFilter[];
  /** Substring of the name, or an exact id, both ignoring case. */
  q: string | null;
  /** Only enabled ones, or only disabled ones. Left out or null: both. */
  isEnabled?: boolean | null;
  /** Only those changed at this time or later; the list is in the order of the last change then. */
  updatedSinceMs?: number | null;
}

/** A small image, ready to be served, and what names it. */
export interface Avatar {
  hash: string;
  image: Uint8Array;
}

/** A page of this origin has asked for a companion's configuration. */
export interface Seen {
  companionId: string;
  /** In normal form. */
  origin: string;
  seenAt: number;
}

/** What a change makes of a companion, from what it is at that moment: the fields to set, none for no change. */
export type Revision = (current: Companion) => Partial<CompanionSettings>;

/**
 * `create`, `createMany` and `update` reject with `invalid_request` naming `voice_agent_id`, and write nothing, if the
 * account may not use that agent (`voice.canUseAgent`), or if the companion would also have a `voiceId`. The check is
 * part of the write's transaction, so neither a revoked grant nor concurrent updates can bypass it. A companion may
 * keep the agent that it already has even without a grant: visitors cannot use it then.
 *
 * They reject with `conflict` for another's slug; `createFitting` refuses those.
 */
export interface CompanionStore {
  /** Audit: `companion.create`. */
  create(accountId: string, companion: NewCompanion, context: WriteContext): Promise<Companion>;
  /** Many in one commit, for imports: all or none. Audit: `companion.import` with their number. */
  createMany(accountId: string, companions: readonly NewCompanion[], context: WriteContext): Promise<void>;
  /**
   * Of many, in one commit, in their order those that the account's holdings have room for; resolves with why each of
   * the others was refused, by its id. `toAnswer` is what is recorded with them, from the refusals; it may be called
   * again. Audit: `companion.import`, unless none is made.
   */
  createFitting(
    accountId: string,
    companions: readonly NewCompanion[],
    context: WriteContext,
    toAnswer: (refusals: Refusals) => IdempotentWrite | null,
  ): Promise<Refusals>;
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
  findBySlug(accountId: string, slug: string): Promise<Companion | null>;
  /**
   * By creation, or with `updatedSinceMs` by last change. In ascending order by last change, a companion that changes
   * while the pages are read comes again on a later page. With `isEnabled` or `updatedSinceMs` a page may have fewer than
   * `limit` items, or none, although more follow: it returns what it has found after a bounded amount of reading.
   */
  list(accountId: string, query: CompanionQuery, page: PageRequest): Promise<Page<Companion>>;
  /** How many companions of all accounts ask for each model; null for the operator's own. */
  countByModel(): Promise<ReadonlyMap<string | null, number>>;
  /**
   * Sets the given fields, `metadata` as a whole; without any, nothing changes. A function is given the companion inside
   * the transaction, of concurrent changes one after the other, and may throw: then nothing changes. If `voiceId` is
   * cleared, a managed voice agent goes to the outbox in the same commit. Null if absent. Audit: `companion.update` with
   * the names of the fields.
   */
  update(
    accountId: string,
    id: string,
    patch: Partial<CompanionSettings> | Revision,
    context: WriteContext,
  ): Promise<Companion | null>;
  /**
   * Replaces the uploaded avatar, or takes it away; its bytes count in the account's. No version is made. Null if absent.
   * Audit: `companion.update`. `check` is as in `delete`.
   */
  setAvatar(
    accountId: string,
    id: string,
    avatar: Avatar | null,
    context: WriteContext,
    check?: (current: Companion) => void,
  ): Promise<Companion | null>;
  /** The image that some companion has under this name. */
  findAvatar(hash: string): Promise<Uint8Array | null>;
  /** Notes websites, each at most once a day: see `addSighting`. Unknown companions are ignored. */
  recordSeen(seen: readonly Seen[]): Promise<void>;
  /**
   * Deletes the companion with its tokens, conversations and index rows; usage is kept; a managed voice agent goes to
   * the outbox. Its tokens are invalid from the first commit on; the rest may follow in chunks. False if absent. Audit:
   * `companion.delete`. `check` is given the companion inside the transaction, and may throw: then it stays.
   */
  delete(accountId: string, id: string, context: WriteContext, check?: (current: Companion) => void): Promise<boolean>;
}

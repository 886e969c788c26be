/** Versions of companions: written with the changes themselves, read and restored here. */
import type { Companion, CompanionSettings } from "../../domain/companion.ts";
import type { Tool } from "../../domain/tool.ts";
import type { CompanionVersion, VersionFacts } from "../../domain/version.ts";
import type { ListOrder } from "./page.ts";
import type { ToolChange } from "./tools.ts";
import type { WriteContext } from "./write-context.ts";

export interface VersionPageRequest {
  /** 1 to 1000. */
  limit: number;
  /** The number of the last version on the previous page, or null for the first page. */
  afterNumber: number | null;
  /** Left out: `desc`, the newest first. */
  order?: ListOrder;
}

export interface VersionPage {
  items: VersionFacts[];
  /** Where the next page starts (`afterNumber`), or null on the last page. */
  nextAfterNumber: number | null;
}

/** What a companion and its tools are at that moment. */
export interface CompanionState {
  readonly companion: Companion;
  /** By name. */
  readonly tools: readonly Tool[];
}

/** What becomes of them. What is left out stays. */
export interface CompanionRevision {
  readonly patch: Partial<CompanionSettings>;
  readonly toolCreates?: readonly Tool[];
  readonly toolUpdates?: readonly { readonly id: string; readonly change: ToolChange }[];
  readonly toolDeletes?: readonly string[];
}

/**
 * Every change of a companion's fields, tools or list of sources makes a version, in its own commit; neither its slug nor
 * what the server does alone. The first change stores version 1 as well, from the state before it: companions that never
 * changed have no rows. Kept are the newest `maxVersions` and those that kept messages name; where the account is full,
 * the oldest that no message names go before a write is refused.
 */
export interface VersionStore {
  /** Null if the account has no such companion. One that never changed has version 1. */
  list(accountId: string, companionId: string, page: VersionPageRequest): Promise<VersionPage | null>;
  /** Null if absent. The current one has the live sources: their `contentHash` is filled in without a new version. */
  find(accountId: string, companionId: string, number: number): Promise<CompanionVersion | null>;
  /**
   * Changes fields and tools in one transaction, as `decide` returns: it is given both inside the transaction, may throw
   * (nothing changes) and may run again. Checks as `companions.update` and the tools' methods. Without any change: no
   * version, no audit line. Null if absent. Audit: `companion.restore` with the names of what changed; event
   * `companion.updated`.
   */
  restore(
    accountId: string,
    companionId: string,
    decide: (state: CompanionState) => CompanionRevision,
    context: WriteContext,
  ): Promise<CompanionState | null>;
}

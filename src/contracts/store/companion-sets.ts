/** Sets of companions that files describe: read and applied as a whole. */
import type { Companion } from "../../domain/companion.ts";
import type { Source } from "../../domain/knowledge.ts";
import type { Tool } from "../../domain/tool.ts";
import type { AppliedRecord, VersionFacts } from "../../domain/version.ts";
import type { NewCompanion } from "./companions.ts";
import type { IdempotentWrite } from "./idempotency.ts";
import type { NewSource, SourceReplacement } from "./knowledge.ts";
import type { CompanionRevision } from "./versions.ts";
import type { WriteContext } from "./write-context.ts";

/** Which companions are read. */
export interface SetScope {
  readonly set: string;
  /** Those that have these slugs, whichever set they are in. */
  readonly slugs: readonly string[];
  /** And those that have these ids. */
  readonly adoptIds: readonly string[];
  /** And all other members of the set. */
  readonly isWholeSet: boolean;
}

export interface SetMember {
  readonly companion: Companion;
  /** By name. */
  readonly tools: readonly Tool[];
  /** By id. */
  readonly sources: readonly Source[];
  /** Null if no file describes it. */
  readonly applied: AppliedRecord | null;
  /** Versions since it was applied, the oldest first; none without `applied`. */
  readonly changes: readonly VersionFacts[];
}

export interface SetState {
  /** In the order of creation. */
  readonly companions: readonly SetMember[];
}

/** As an applied record is written: the store knows the version. */
export type NewAppliedRecord = Omit<AppliedRecord, "version">;

export interface SetCreate {
  /** The id of the audit entry. */
  readonly auditId: string;
  readonly companion: NewCompanion;
  readonly tools: readonly Tool[];
  readonly sources: readonly NewSource[];
  readonly applied: NewAppliedRecord;
}

export interface SetUpdate extends CompanionRevision {
  readonly id: string;
  /** The ids of the audit entry and the event; not used if nothing but `applied` changes. */
  readonly auditId: string;
  readonly sourceCreates?: readonly NewSource[];
  readonly sourceUpdates?: readonly { readonly id: string; readonly change: SourceReplacement }[];
  readonly sourceDeletes?: readonly string[];
  /** Left out: stays. Null: it leaves its set. */
  readonly applied?: NewAppliedRecord | null;
}

export interface SetWrites<Result> {
  readonly creates: readonly SetCreate[];
  readonly updates: readonly SetUpdate[];
  readonly deletes: readonly { readonly id: string; readonly auditId: string }[];
  /** What is recorded for the request; null for nothing. The context's own is not used. */
  readonly idempotent: IdempotentWrite | null;
  readonly result: Result;
}

/** A transaction may hold the event loop for 250 ms. Of at most 250 companions and 20 000 metadata entries. */
export interface CompanionSetStore {
  /** For a plan that writes nothing. */
  read(accountId: string, scope: SetScope): Promise<SetState>;
  /**
   * Writes what `decide` makes of the state, in one transaction: all or nothing. It may throw (nothing is written), and
   * may run again. Checks as the methods of each resource: `conflict`, `invalid_request`, `limit_reached`. Without
   * anything to write nothing is written. Uploads are part of the transaction.
   *
   * Audit: `companion.create`, `companion.update` and `companion.delete`, once for each companion that changes, and so
   * events. Versions have the context's `change`.
   */
  apply<Result>(
    accountId: string,
    scope: SetScope,
    decide: (state: SetState) => SetWrites<Result>,
    context: WriteContext,
  ): Promise<Result>;
}

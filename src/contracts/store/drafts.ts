/** Drafts: at most one for each companion. */
import type { Companion } from "../../domain/companion.ts";
import type { Draft, VersionSettings } from "../../domain/version.ts";
import type { WriteContext } from "./write-context.ts";

/** What each is given is as it is inside the transaction; they may throw (nothing changes) and may run again. */
export interface DraftStore {
  find(accountId: string, companionId: string): Promise<Draft | null>;
  /**
   * Begins a draft with the patch of `decide`, replacing an earlier one, which `decide` is given. It counts in the
   * account's bytes: rejects with `limit_reached`. Null if there is no such companion. Audit: `draft.update` with the names
   * of its fields.
   */
  put(
    accountId: string,
    companionId: string,
    decide: (companion: Companion, draft: Draft | null) => Partial<VersionSettings>,
    context: WriteContext,
  ): Promise<Draft | null>;
  /** False if absent. Audit: `draft.delete`. */
  delete(
    accountId: string,
    companionId: string,
    context: WriteContext,
    check?: (draft: Draft) => void,
  ): Promise<boolean>;
  /**
   * Sets what `decide` returns and deletes the draft, in one commit. Checks as `companions.update`. Without any change of
   * the companion: no version. Null if there is no draft. Audit: `draft.publish` with the names of the fields; event
   * `companion.updated`.
   */
  publish(
    accountId: string,
    companionId: string,
    decide: (companion: Companion, draft: Draft) => Partial<VersionSettings>,
    context: WriteContext,
  ): Promise<Companion | null>;
}

/** Who makes a change, and what is committed with it. */
import type { HoldingsByPlan } from "../../domain/account.ts";
import type { ChangeVia } from "../../domain/version.ts";
import type { AuditActor } from "./audit.ts";
import type { IdempotentWrite } from "./idempotency.ts";

/** Who makes a change, when, and what is committed with it. Passed to every write made by people. */
export interface WriteContext {
  actor: AuditActor;
  nowMs: number;
  /** The id of the audit entry that is written in the same commit. */
  auditId: string;
  /**
   * What versions of companions note of the change, beside the actor. Left out: by the actor's kind, without a note.
   * `actorName`: the e-mail address of who is signed in; null: the store finds the actor's name.
   */
  change?: { via: ChangeVia; note: string | null; actorName: string | null };
  /** Set if the request had an `Idempotency-Key`: its response is recorded in the same commit. */
  idempotent?: IdempotentWrite;
  /** False if the account is known to have no enabled webhook: no event is stored. Left out: the store checks. */
  hasWebhooks?: boolean;
  /**
   * Limits of what the account may hold after the write, by its plan at that time. A write that adds to something
   * beyond its limit rejects with `limit_reached`, however many come at the same time, and leaves nothing behind; one
   * that does not add succeeds all the same. Undefined: no limit.
   *
   * Responses stored for an `Idempotency-Key` are limited separately, to the same number of bytes, because they outlive
   * the resources that they describe.
   */
  holdings?: HoldingsByPlan;
}

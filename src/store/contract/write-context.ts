/** Who makes a change, and what must be committed with it. */
import type { HoldingsByPlan } from "../../domain/account.ts";
import type { AuditActor } from "./audit.ts";
import type { IdempotentWrite } from "./idempotency.ts";

/** Who makes a change, when, and what must be committed with it. Passed to every write that people make. */
export interface WriteContext {
  actor: AuditActor;
  nowMs: number;
  /** The id of the audit entry that is written in the same commit. */
  auditId: string;
  /** Set when the request carried an `Idempotency-Key`: its answer is recorded in the same commit. */
  idempotent?: IdempotentWrite;
  /**
   * What the account may hold after the write, by the plan that it has then. A write that makes more of something of which
   * there would be too much rejects with `limit_reached`, however many come at once, and nothing of it remains; one that
   * makes less, or leaves as much, goes through all the same. Left out: not bound.
   *
   * The answers kept for an `Idempotency-Key` are bound by as many bytes again, since they outlive what they tell of.
   */
  holdings?: HoldingsByPlan;
}

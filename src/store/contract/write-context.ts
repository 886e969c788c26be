/** Who makes a change, and what must be committed with it. */
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
}

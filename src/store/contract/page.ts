/** What lists and audited writes of every noun share. */
import type { AuditActor } from "./audit.ts";
import type { IdempotentWrite } from "./idempotency.ts";

/** Which part of a list to read: newest first by id (UUIDv7, so by creation), stable under inserts. */
export interface PageRequest {
  /** 1 to 100. */
  limit: number;
  /** The id of the last item of the page before, or null for the first page. */
  afterId: string | null;
}

export interface Page<Item> {
  items: Item[];
  /** Where the next page starts (`afterId`), or null on the last page. */
  nextAfterId: string | null;
}

/** Who makes a change, when, and what must be committed with it. Passed to every write that people make. */
export interface WriteContext {
  actor: AuditActor;
  nowMs: number;
  /** The id of the audit entry that is written in the same commit. */
  auditId: string;
  /** Set when the request carried an `Idempotency-Key`: its answer is recorded in the same commit. */
  idempotent?: IdempotentWrite;
}

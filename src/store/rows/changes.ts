/** What a change made by people is called in the audit log. */
import type { AuditEntry } from "../contract/audit.ts";
import type { IdempotentWrite } from "../contract/idempotency.ts";
import type { WriteContext } from "../contract/write-context.ts";

export interface Change {
  accountId: string;
  action: string;
  targetId: string | null;
  details: AuditEntry["details"];
}

/** What to record of companions that were made together; no entry where none was. */
export function toImport(
  accountId: string,
  count: number,
  context: WriteContext,
  answer: IdempotentWrite | null,
): [context: WriteContext, change: Change | null] {
  const { idempotent: _, ...rest } = context;
  const change = count === 0 ? null : { accountId, action: "companion.import", targetId: null, details: { count } };
  return [answer === null ? rest : { ...rest, idempotent: answer }, change];
}

/** The entry as a row: its actor in columns of their own, its details as JSON. */
export function toAuditRow({ actor, details, ...entry }: AuditEntry) {
  const { kind: actorKind, id: actorId, ipPrefix, requestId } = actor;
  return { ...entry, details: JSON.stringify(details), actorKind, actorId, ipPrefix, requestId };
}

/** What a change made by people is called in the audit log. */
import type { AuditEntry } from "../contract/audit.ts";

export interface Change {
  accountId: string;
  action: string;
  targetId: string | null;
  details: AuditEntry["details"];
}

/** The entry as a row: its actor in columns of their own. */
export function toAuditRow({ actor, ...entry }: AuditEntry) {
  const { kind: actorKind, id: actorId, ipPrefix, requestId } = actor;
  return { ...entry, actorKind, actorId, ipPrefix, requestId };
}

/** The audit log on the wire. */
import type { AuditEntry } from "../../contracts/store/store.ts";
import { toRfc3339 } from "../../lib/clock.ts";
import { toSnakeCase } from "../../lib/field-names.ts";

export function toWireAuditEntry(entry: AuditEntry) {
  const { kind, id, ipPrefix, requestId } = entry.actor;
  return {
    id: entry.id,
    actor: { kind, id, ip: ipPrefix, request_id: requestId },
    action: entry.action,
    target_id: entry.targetId,
    details: toWireDetails(entry.details),
    created_at: toRfc3339(entry.createdAt),
  };
}

/** The store uses the program's field names, callers those of the wire. */
function toWireDetails(details: AuditEntry["details"]) {
  return Object.fromEntries(
    Object.entries(details).map(([name, value]) => [
      toSnakeCase(name),
      name === "changed" && Array.isArray(value) ? value.map(toSnakeCase) : value,
    ]),
  );
}

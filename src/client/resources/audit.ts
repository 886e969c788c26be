/** `/api/audit`: who changed what. */
import type { AuditEntry, AuditList, ListAuditQuery } from "../generated/wire.ts";
import { iteratePages } from "../pages.ts";
import type { CallOptions, Transport } from "../transport.ts";

export function auditCalls(transport: Transport) {
  const list = (query: ListAuditQuery = {}, options: CallOptions = {}) =>
    transport.json<AuditList>({ method: "GET", path: ["api", "audit"], query }, options);
  return {
    list,
    listAll: (query: ListAuditQuery = {}, options: CallOptions = {}): AsyncGenerator<AuditEntry, void, undefined> =>
      iteratePages(query, (page) => list(page, options)),
  };
}

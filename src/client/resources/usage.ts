/** `/api/usage` and `/api/audit`: what was used and who changed what, for audit and billing. */
import type {
  AuditEntry,
  AuditList,
  ExportUsageEventsQuery,
  FailedReplyList,
  GetFailedRepliesQuery,
  GetUsageQuery,
  ListAuditQuery,
  UsageEvent,
  UsageList,
} from "../generated/wire.ts";
import { resumeObjects } from "../lines.ts";
import { iteratePages } from "../pages.ts";
import type { CallOptions, Transport } from "../transport.ts";

export function usageCalls(transport: Transport) {
  const path = ["api", "usage"];

  const events = (query: ExportUsageEventsQuery = {}, options: CallOptions = {}) =>
    resumeObjects<UsageEvent>(
      (last) => {
        const from = { ...query, cursor: last?.cursor ?? query.cursor };
        return transport.open(
          { method: "GET", path: [...path, "events"], query: from, headers: { accept: "application/x-ndjson" } },
          options,
        );
      },
      (durationMs) => transport.sleep(durationMs, options.signal),
      () => 0,
    );

  return {
    query: (query: GetUsageQuery = {}, options: CallOptions = {}) =>
      transport.json<UsageList>({ method: "GET", path, query }, options),

    /** The same for spreadsheets. */
    csv: (query: GetUsageQuery = {}, options: CallOptions = {}) =>
      transport.text({ method: "GET", path, query, headers: { accept: "text/csv" } }, options),

    /**
     * Lines for your billing: send each `identifier` along, and keep the last `cursor` for the next call. After a cut it
     * goes on behind the last line.
     */
    events,

    /** Why replies failed. */
    failures: (query: GetFailedRepliesQuery = {}, options: CallOptions = {}) =>
      transport.json<FailedReplyList>({ method: "GET", path: [...path, "failures"], query }, options),
  };
}

/** `/api/audit`: who changed what. */
export function auditCalls(transport: Transport) {
  const list = (query: ListAuditQuery = {}, options: CallOptions = {}) =>
    transport.json<AuditList>({ method: "GET", path: ["api", "audit"], query }, options);
  return {
    list,
    listAll: (query: ListAuditQuery = {}, options: CallOptions = {}): AsyncGenerator<AuditEntry, void, undefined> =>
      iteratePages(query, (page) => list(page, options)),
  };
}

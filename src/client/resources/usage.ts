/** `/api/usage`: what was used, for audit and billing. */
import type { FailedReplyList, GetFailedRepliesQuery, GetUsageQuery, UsageList } from "../generated/wire.ts";
import type { CallOptions } from "../request.ts";
import type { Transport } from "../transport.ts";

export function usageCalls(transport: Transport) {
  const path = ["api", "usage"];
  return {
    query: (query: GetUsageQuery = {}, options: CallOptions = {}) =>
      transport.json<UsageList>({ method: "GET", path, query }, options),

    /** The same for spreadsheets. */
    csv: (query: GetUsageQuery = {}, options: CallOptions = {}) =>
      transport.text({ method: "GET", path, query, headers: { accept: "text/csv" } }, options),

    /** Why replies failed. */
    failures: (query: GetFailedRepliesQuery = {}, options: CallOptions = {}) =>
      transport.json<FailedReplyList>({ method: "GET", path: [...path, "failures"], query }, options),
  };
}

/** `/api/leads`: contacts that visitors have left; `/api/insights`: how conversations went. */
import type { GetInsightsQuery, Insights, LeadList, ListLeadsQuery } from "../generated/wire.ts";
import { iteratePages } from "../pages.ts";
import type { CallOptions, Transport } from "../transport.ts";

export function leadCalls(transport: Transport) {
  const path = ["api", "leads"];
  const list = (query: ListLeadsQuery = {}, options: CallOptions = {}) =>
    transport.json<LeadList>({ method: "GET", path, query }, options);
  return {
    /** One page, newest first. */
    list,
    /** All of them, page after page. */
    listAll: (query: ListLeadsQuery = {}, options: CallOptions = {}) =>
      iteratePages(query, (page) => list(page, options)),
    /** For spreadsheets: up to 10 000, unless `limit` says otherwise. */
    csv: (query: ListLeadsQuery = {}, options: CallOptions = {}) =>
      transport.text({ method: "GET", path, query, headers: { accept: "text/csv" } }, options),
    /** The contact alone: the conversation stays. */
    delete: (conversationId: string, options: CallOptions = {}) =>
      transport.send({ method: "DELETE", path: [...path, conversationId] }, options),
  };
}

export const insightCalls = (transport: Transport) => ({
  get: (query: GetInsightsQuery = {}, options: CallOptions = {}) =>
    transport.json<Insights>({ method: "GET", path: ["api", "insights"], query }, options),
});

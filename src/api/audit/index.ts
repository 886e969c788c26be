/** `GET /api/audit`: who changed what, when, from where. */
import { jsonResponse } from "../../http/api-description.ts";
import { pageQuery, toWireList } from "../../http/paging.ts";
import { rangeQuery } from "../../http/query.ts";
import { type Route, route } from "../../http/route.ts";
import { listOf } from "../../http/schemas/list.ts";
import { AuditEntryObject, toWireAuditEntry } from "./responses.ts";

export const auditRoutes: readonly Route[] = [
  route({
    id: "listAudit",
    method: "GET",
    path: "/api/audit",
    tag: "Audit",
    summary: "List who changed what, when, from where",
    access: "audit:read",
    query: { range: rangeQuery, page: pageQuery },
    document: () => ({
      responses: { 200: jsonResponse("A page of entries.", listOf(AuditEntryObject, "AuditList")) },
    }),
    async handle({ services, principal, query: { range, page } }) {
      const closed = { fromMs: range.fromMs ?? 0, toMs: range.toMs ?? Number.MAX_SAFE_INTEGER };
      return toWireList(await services.store.audit.list(principal.account.id, closed, page), toWireAuditEntry);
    },
  }),
];

/** The audit route, for the API document. */
import type { ApiOperation } from "../../http/api-description.ts";
import { pageQuery } from "../../http/paging.ts";
import { schemasOf } from "../../http/query.ts";
import { rangeQuery } from "../../http/time-range.ts";
import { AuditList } from "./responses.ts";

export const auditApi: ApiOperation[] = [
  {
    id: "listAudit",
    method: "GET",
    path: "/api/audit",
    tag: "Audit",
    summary: "List who changed what, when, from where",
    access: "audit:read",
    query: { ...schemasOf(rangeQuery), ...schemasOf(pageQuery) },
    answers: { 200: { description: "A page of entries.", content: { "application/json": AuditList } } },
  },
];

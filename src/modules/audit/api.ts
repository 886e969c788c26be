/** The audit route, for the API document. */
import { type ApiOperation, pageQuery, rangeQuery } from "../../http/api-description.ts";
import { AuditList } from "./responses.ts";

export const auditApi: ApiOperation[] = [
  {
    id: "listAudit",
    method: "GET",
    path: "/api/audit",
    tag: "Audit",
    summary: "List who changed what, when, from where",
    access: "audit:read",
    query: { ...rangeQuery, ...pageQuery },
    answers: { 200: { description: "A page of entries.", content: { "application/json": AuditList } } },
  },
];

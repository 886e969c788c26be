/** `GET /api/audit`: who changed what, when, from where. */
import type { Elysia } from "elysia";
import type { Services } from "../../dependencies.ts";
import { respondJson } from "../../http/json-response.ts";
import { pageParameters, readPage, toWireList } from "../../http/paging.ts";
import { openPrincipal } from "../../http/principal-guard.ts";
import { openQuery } from "../../http/query.ts";
import { rangeParameters, readRange } from "../../http/time-range.ts";
import { toWireAuditEntry } from "./model.ts";

export function auditModule(services: Services) {
  return (app: Elysia) =>
    app.get("/api/audit", async ({ request, set }) => {
      const { account } = await openPrincipal(services, request, "audit:read", set.headers);
      const query = openQuery(request, [...rangeParameters, ...pageParameters]);
      const page = readPage(query);
      const { fromMs, toMs } = readRange(query);
      query.finish();
      const range = { fromMs: fromMs ?? 0, toMs: toMs ?? Number.MAX_SAFE_INTEGER };
      return respondJson(set, toWireList(await services.store.audit.list(account.id, range, page), toWireAuditEntry));
    });
}

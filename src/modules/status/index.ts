/** `GET /api/status`: what an operator should look at now. */
import type { Elysia } from "elysia";
import type { Services } from "../../dependencies.ts";
import { respondJson } from "../../http/json-response.ts";
import { refuseQuery } from "../../http/query.ts";
import { openOperator } from "../../http/session-guard.ts";
import { toWireSilentModel } from "./model.ts";

export function statusModule(services: Services) {
  return (app: Elysia) =>
    app.get("/api/status", async ({ request, set }) => {
      await openOperator(services, request, set.headers);
      refuseQuery(request);
      return respondJson(set, { silent_models: services.providerHealth.listSilent().map(toWireSilentModel) });
    });
}

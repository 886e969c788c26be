/** `GET /api/status`: what an operator should look at now. */
import type { Elysia } from "elysia";
import { answerJson } from "../../http/json-answer.ts";
import { refuseQuery } from "../../http/query.ts";
import type { Services } from "../../http/services.ts";
import { openOperator } from "../../http/session-guard.ts";
import { toWireSilentModel } from "./model.ts";

export function statusModule(services: Services) {
  return (app: Elysia) =>
    app.get("/api/status", async ({ request, set }) => {
      await openOperator(services, request, set.headers);
      refuseQuery(request);
      return answerJson(set, { silent_models: services.providerHealth.listSilent().map(toWireSilentModel) });
    });
}

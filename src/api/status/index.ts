/** `GET /api/status`: what an operator should look at now. */
import { listRefusedConfigs } from "../../core/metrics/refused-configs.ts";
import { jsonResponse } from "../../http/api-description.ts";
import { type Route, route } from "../../http/route.ts";
import { toWireRefusedConfig, toWireRetiringModel, toWireSilentModel } from "./model.ts";
import { StatusObject } from "./responses.ts";
import { listRetiringModels } from "./service.ts";

export const statusRoutes: readonly Route[] = [
  route({
    id: "getStatus",
    method: "GET",
    path: "/api/status",
    tag: "Service",
    summary: "What an operator should check now",
    access: "operator",
    document: () => ({
      description:
        "Known from the requests and replies themselves and from each provider's list of models, which the server reads once a day: no provider is called for it.",
      responses: { 200: jsonResponse("What is wrong.", StatusObject) },
    }),
    handle: async ({ services }) => ({
      silent_models: services.providerHealth.listSilent().map(toWireSilentModel),
      retiring_models: (await listRetiringModels(services)).map(toWireRetiringModel),
      refused_configs: listRefusedConfigs(services.measurements, services.rules, services.clock.nowMs()).map(
        toWireRefusedConfig,
      ),
    }),
  }),
];

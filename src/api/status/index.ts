/** `GET /api/status`: what an operator should look at now. */
import type { SilentModel } from "../../core/metrics/provider-health.ts";
import type { RefusedConfigHint } from "../../core/metrics/refused-configs.ts";
import { listRefusedConfigs } from "../../core/metrics/refused-configs.ts";
import { jsonResponse } from "../../http/api-description.ts";
import { type Route, route } from "../../http/route.ts";
import { toRfc3339 } from "../../lib/clock.ts";
import type { Status } from "./responses.ts";
import { StatusObject } from "./responses.ts";
import type { CountedRetiringModel } from "./service.ts";
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

function toWireSilentModel({
  model,
  kind,
  detail,
  advice,
  replies,
  sinceMs,
  lastMs,
}: SilentModel): Status["silent_models"][number] {
  return { model, kind, detail, advice, replies, since: toRfc3339(sinceMs), last_at: toRfc3339(lastMs) };
}

function toWireRetiringModel({
  provider,
  model,
  shutdownDate,
  companions,
}: CountedRetiringModel): Status["retiring_models"][number] {
  return { provider, model, shutdown_date: shutdownDate, companions };
}

function toWireRefusedConfig({
  window,
  detail,
  advice,
  count,
  sinceMs,
  lastMs,
}: RefusedConfigHint): Status["refused_configs"][number] {
  return { window, detail, advice, count, since: toRfc3339(sinceMs), last_at: toRfc3339(lastMs) };
}

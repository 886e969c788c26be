/** `GET /api/status`: what an operator should check now. */
import { listRefusedConfigs } from "../../core/metrics/refused-configs.ts";
import { jsonResponse } from "../../http/api-description.ts";
import { type Route, route } from "../../http/route.ts";
import { toRfc3339 } from "../../lib/clock.ts";
import { type Status, StatusObject } from "./responses.ts";
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
    async handle({ services }): Promise<Status> {
      const { providerHealth, measurements, rules, clock } = services;
      const silent = providerHealth.listSilent();
      const retiring = await listRetiringModels(services);
      const refused = listRefusedConfigs(measurements, rules, clock.nowMs());
      return {
        silent_models: silent.map(({ model, kind, detail, advice, replies, ...times }) => {
          return { model, kind, detail, advice, replies, ...toWireTimes(times) };
        }),
        retiring_models: retiring.map(({ provider, model, shutdownDate, companions }) => {
          return { provider, model, shutdown_date: shutdownDate, companions };
        }),
        refused_configs: refused.map(({ window, detail, advice, count, ...times }) => {
          return { window, detail, advice, count, ...toWireTimes(times) };
        }),
      };
    },
  }),
];

function toWireTimes({ sinceMs, lastMs }: { sinceMs: number; lastMs: number }) {
  return { since: toRfc3339(sinceMs), last_at: toRfc3339(lastMs) };
}

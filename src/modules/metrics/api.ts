/** The metrics route, for the API document. */
import type { ApiOperation } from "../../http/api-description.ts";

export const metricsApi: ApiOperation[] = [
  {
    id: "getMetrics",
    method: "GET",
    path: "/metrics",
    tag: "Service",
    summary: "What the server counts about itself",
    description:
      "For Prometheus. Absent unless the operator sets `COMPANIOND_METRICS_TOKEN`, which then opens it as a Bearer token.",
    access: "public",
    answers: { 200: { description: "Metrics in Prometheus' text format.", content: { "text/plain": null } } },
    errors: ["unauthorized", "not_found"],
  },
];

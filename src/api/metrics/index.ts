/** `GET /metrics`: for Prometheus, behind the operator's token; absent if none is set. */
import { AppError } from "../../domain/errors.ts";
import { type Route, route } from "../../http/route.ts";
import { isSameInConstantTime } from "../../lib/constant-time.ts";
import { sha256Hex } from "../../lib/sha256.ts";
import { renderMetrics } from "./service.ts";

export const metricsRoutes: readonly Route[] = [
  route({
    id: "getMetrics",
    method: "GET",
    path: "/metrics",
    tag: "Service",
    summary: "What the server counts about itself",
    access: "public",
    document: () => ({
      description:
        "For Prometheus. Absent unless the operator sets `COMPANIOND_METRICS_TOKEN`, which then opens it as a Bearer token.",
      responses: { 200: { description: "Metrics in Prometheus' text format.", content: { "text/plain": null } } },
      errors: ["unauthorized", "not_found"],
    }),
    async handle({ services, request, set }) {
      const { metricsToken } = services.settings;
      if (metricsToken === null) throw new AppError("not_found", "There is nothing at this address.");
      const given = /^Bearer +(\S+)$/i.exec(request.headers.get("authorization") ?? "")?.[1] ?? "";
      if (!isSame(given, metricsToken)) {
        throw new AppError("unauthorized", "Send the metrics token: Authorization: Bearer …", {
          headers: { "www-authenticate": "Bearer" },
        });
      }
      const { contentType, text } = await renderMetrics(services);
      set.headers["content-type"] = contentType;
      set.headers["cache-control"] = "no-store";
      return text;
    },
  }),
];

function isSame(given: string, expected: string): boolean {
  return isSameInConstantTime(Buffer.from(sha256Hex(given)), Buffer.from(sha256Hex(expected)));
}

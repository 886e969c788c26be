/** `GET /metrics`: for Prometheus, behind a token of the operator's; absent where none is set. */
import type { Elysia } from "elysia";
import type { Services } from "../../dependencies.ts";
import { AppError } from "../../domain/errors.ts";
import { isSameInConstantTime } from "../../lib/constant-time.ts";
import { sha256Hex } from "../../lib/sha256.ts";
import { renderMetrics } from "./service.ts";

export function metricsModule(services: Pick<Services, "settings" | "measurements">) {
  return (app: Elysia) =>
    app.get("/metrics", async ({ request, set }) => {
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
    });
}

function isSame(given: string, expected: string): boolean {
  return isSameInConstantTime(Buffer.from(sha256Hex(given)), Buffer.from(sha256Hex(expected)));
}

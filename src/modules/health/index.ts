/** `/healthz`: the process is alive. `/readyz`: it can serve, so a load balancer may send requests. */
import type { Elysia } from "elysia";
import type { Services } from "../../dependencies.ts";
import { AppError } from "../../domain/errors.ts";

export function healthModule(services: Pick<Services, "store" | "lifecycle" | "settings">) {
  return (app: Elysia) =>
    app
      .get("/healthz", ({ set }) => {
        set.headers["cache-control"] = "no-store";
        return { status: "ok", version: services.settings.version };
      })
      .get("/readyz", async ({ set }) => {
        set.headers["cache-control"] = "no-store";
        if (services.lifecycle.isDraining) throw new AppError("unavailable", "The server is shutting down.");
        await services.store.check();
        return { status: "ready" };
      });
}

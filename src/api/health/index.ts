/** `/healthz`: the process is alive. `/readyz`: it can serve, so a load balancer may send requests. */
import { Type as t } from "@sinclair/typebox";
import { AppError } from "../../domain/errors.ts";
import { jsonResponse } from "../../http/api-description.ts";
import { type Route, route } from "../../http/route.ts";

export const healthRoutes: readonly Route[] = [
  route({
    id: "getHealth",
    method: "GET",
    path: "/healthz",
    tag: "Service",
    summary: "Whether the process is alive",
    access: "public",
    document: () => {
      const fields = { status: t.Literal("ok"), version: t.String({ examples: ["1.0.0"] }) };
      return { responses: { 200: jsonResponse("Alive.", t.Object(fields, { $id: "Alive" })) } };
    },
    handle({ services, set }) {
      set.headers["cache-control"] = "no-store";
      return Response.json({ status: "ok", version: services.settings.version });
    },
  }),
  route({
    id: "getReadiness",
    method: "GET",
    path: "/readyz",
    tag: "Service",
    summary: "Whether requests should be sent here",
    access: "public",
    document: () => ({
      description: "503 while the database is out of reach, or the server is shutting down.",
      responses: { 200: jsonResponse("Ready.", t.Object({ status: t.Literal("ready") }, { $id: "Ready" })) },
    }),
    async handle({ services, set }) {
      set.headers["cache-control"] = "no-store";
      if (services.lifecycle.isDraining) {
        throw new AppError("unavailable", "The server is shutting down.", { isWanted: true });
      }
      await services.store.check();
      return Response.json({ status: "ready" });
    },
  }),
];

/** The sitemap: every route group, top to bottom. */
import { Elysia } from "elysia";
import { AppError } from "./domain/errors.ts";
import { apiCors } from "./http/cors.ts";
import { errorHandling } from "./http/error-handling.ts";
import { factsOf } from "./http/request-facts.ts";
import type { Services } from "./http/services.ts";
import { accountsModule } from "./modules/accounts/index.ts";
import { assetsModule } from "./modules/assets/index.ts";
import { auditModule } from "./modules/audit/index.ts";
import { chatModule } from "./modules/chat/index.ts";
import { companionsModule } from "./modules/companions/index.ts";
import { conversationsModule } from "./modules/conversations/index.ts";
import { dashboardModule } from "./modules/dashboard/index.ts";
import { docsModule } from "./modules/docs/index.ts";
import { embedModule } from "./modules/embed/index.ts";
import { healthModule } from "./modules/health/index.ts";
import { keysModule } from "./modules/keys/index.ts";
import { metricsModule } from "./modules/metrics/index.ts";
import { pagesModule } from "./modules/pages/index.ts";
import { sessionModule } from "./modules/session/index.ts";
import { usageModule } from "./modules/usage/index.ts";
import { voiceTokenModule } from "./modules/voice-token/index.ts";
import { webhooksModule } from "./modules/webhooks/index.ts";

const methods = ["GET", "POST", "PATCH", "DELETE", "PUT"];

export function createApp(services: Services) {
  const app = new Elysia({
    name: "companiond",
    aot: true,
    // Elysia looks for the path from a fixed place on: with `true` after `https://` and three characters of a host,
    // with `false` right after `http://`, where `http://app/` has its host and `https://` its second slash.
    handler: { standardHostname: services.settings.isTls },
  })
    .onRequest(({ request, set }) => {
      set.headers["x-request-id"] = factsOf(request, services.ids).requestId;
      set.headers["x-content-type-options"] = "nosniff";
      // Links are made of the host, and routers and guards read URLs whose path begins behind one.
      if (!URL.canParse(request.url)) throw new AppError("invalid_request", "The Host header names no host.");
    })
    .use(apiCors())
    .use(errorHandling(services, (path) => methods.filter((method) => hasRoute(method, path))))
    .use(pagesModule(services))
    .use(assetsModule())
    .use(dashboardModule())
    .use(healthModule(services))
    .use(metricsModule(services))
    .use(embedModule(services))
    .use(chatModule(services))
    .use(companionsModule(services))
    .use(keysModule(services))
    .use(conversationsModule(services))
    .use(usageModule(services))
    .use(auditModule(services))
    .use(sessionModule(services))
    .use(accountsModule(services))
    .use(docsModule(services, async () => (await import("./api-operations.ts")).apiOperations))
    .use(voiceTokenModule(services))
    .use(webhooksModule(services));

  // Where an escape cannot be decoded, Elysia hands routes null, against its types: what is no text is no id either.
  const { config } = app.router.http;
  config.onParam = [config.onParam ?? [], (value: string | null) => value ?? ""].flat();

  function hasRoute(method: string, path: string): boolean {
    // Elysia keeps paths without parameters apart from the others.
    return app.router.static[path]?.[method] !== undefined || app.router.http.find(method, path) !== null;
  }
  return app;
}

export type App = ReturnType<typeof createApp>;

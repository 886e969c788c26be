/**
 * Every route group, in two halves. Loading and adding routes takes much of a start, so the half that only
 * dashboards and platforms call is loaded with its first request.
 */
import { Elysia } from "elysia";
import { embedConfigRoute } from "../api/embed/index.ts";
import { createInstanceEndpoint, type InstanceEndpoint } from "../api/instances/index.ts";
import type { Services } from "../core/dependencies.ts";
import { AppError } from "../domain/errors.ts";
import { apiCors } from "../http/cors.ts";
import type { DirectRoute } from "../http/direct-route.ts";
import { errorHandling } from "../http/error-handling.ts";
import { mountRoutes } from "../http/mount-routes.ts";
import { everyResponseHeaders } from "../http/problem.ts";
import { answerReplyCall } from "../http/reply-calls.ts";
import { contextOf } from "../http/request-context.ts";
import type { Route } from "../http/route.ts";
import { createRouteTable } from "../http/route-table.ts";
import { later } from "../lib/later.ts";
import { makePublicRoutes } from "./public-routes.ts";

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"];

const listRoutes = async () => (await import("./routes.ts")).routes;

export type Site = ReturnType<typeof createSite>;

export interface App {
  /** The half that serves the address; a promise where that is loaded first. */
  siteFor(url: string): Site | Promise<Site>;
  fetch(request: Request): Promise<Response>;
  /** Of both halves. */
  listRoutes(): Promise<Site["routes"]>;
  /** Routes that a listener finds without the others. */
  readonly directRoutes: readonly DirectRoute[];
  /** Where other instances come in: none of the routes either. */
  readonly instanceEndpoint: InstanceEndpoint;
}

export function createApp(services: Services): App {
  const publicSite = createSite(
    services,
    makePublicRoutes(listRoutes).filter(({ path }) => !isManagementPath(path)),
  );
  let managementSite: Site | null = null;

  async function openManagementSite(): Promise<Site> {
    const routes = await listRoutes();
    // Several requests may have waited.
    managementSite ??= createSite(
      services,
      routes.filter(({ path }) => isManagementPath(path)),
    );
    return managementSite;
  }

  function siteFor(url: string): Site | Promise<Site> {
    const pathStart = url.indexOf("/", url.indexOf("://") + 3);
    return isManagementPath(url, pathStart) ? (managementSite ?? openManagementSite()) : publicSite;
  }

  return {
    siteFor,
    fetch: async (request) => (await siteFor(request.url)).fetch(request),
    listRoutes: async () => [...publicSite.routes, ...(await openManagementSite()).routes],
    directRoutes: [embedConfigRoute(services)],
    instanceEndpoint: createInstanceEndpoint(services, (...call) => answerReplyCall(services, ...call)),
  };
}

/** Whether the path is one that platforms call: `/v1/`, and everything below `/api/` that the public half does not serve. */
function isManagementPath(url: string, pathStart = 0): boolean {
  if (url.startsWith("/v1/", pathStart)) return true;
  if (!url.startsWith("/api/", pathStart)) return false;
  return !["/api/embed/", "/api/voice/", "/api/webhooks/elevenlabs"].some((path) => url.startsWith(path, pathStart));
}

/** An app with the given routes and everything that surrounds every route. */
function createSite(services: Services, routes: readonly Route[]) {
  const everyHeaders = everyResponseHeaders(services.settings);
  const site = new Elysia({
    name: "companiond",
    aot: true,
    // Elysia searches for the path from a fixed position: with `true` after `https://` and three characters of a host,
    // with `false` right after `http://`, where `http://app/` has its host and `https://` its second slash.
    handler: { standardHostname: services.settings.isTls },
  })
    .onRequest(({ request, set }) => {
      set.headers["x-request-id"] = contextOf(request, services.ids).requestId;
      Object.assign(set.headers, everyHeaders);
      // Links contain the host, and routers and guards expect URLs whose path follows one.
      if (!URL.canParse(request.url)) throw new AppError("invalid_request", "The Host header names no host.");
    })
    .use(apiCors())
    .use(errorHandling(services, allowedMethods))
    .use(mountRoutes(services, routes));

  const table = later(() => createRouteTable(site.routes));
  function allowedMethods(path: string): string[] {
    const found = table.listMethods(path);
    return methods.filter((method) => found.includes(method));
  }
  return site;
}

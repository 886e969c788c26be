/** Adds defined routes to Elysia's router. */
import type { Elysia } from "elysia";
import type { Services } from "../dependencies.ts";
import { createIdempotency } from "./idempotency.ts";
import type { Route } from "./route.ts";

export function mountRoutes(services: Services, routes: readonly Route[]) {
  const site = { services, idempotency: createIdempotency(services) };
  return (app: Elysia) => {
    for (const route of routes) {
      if (route.isOffered?.(services) === false) continue;
      // Elysia reads the source of a handler: it does not parse what is not named here.
      app.route(
        route.method,
        toRouterPath(route.path),
        ({ request, params, set }) => route.respond(site, { services, request, set, params }),
        { parse: "none" },
      );
    }
    return app;
  };
}

/** `/api/items/{item_id}` as `/api/items/:itemId`. */
export function toRouterPath(path: string): string {
  return path
    .replace(/\{\w+\*\}$/, "*")
    .replace(
      /\{(\w+)\}/g,
      (_, name: string) => `:${name.replace(/_(\w)/g, (_match, letter: string) => letter.toUpperCase())}`,
    );
}

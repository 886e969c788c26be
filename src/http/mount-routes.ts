/** Adds the defined routes to Elysia's router. */
import type { Elysia } from "elysia";
import type { Services } from "../core/dependencies.ts";
import { AppError } from "../domain/errors.ts";
import { toCamelCase } from "../lib/field-names.ts";
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
        ({ request, params, set }) => {
          // Despite its types, Elysia turns an escape that cannot be decoded into null; an empty text is never an id, and
          // no store holds a text with NUL.
          const texts: Record<string, string> = params;
          if (route.method === "DELETE") refuseDirectory(request.url);
          for (const name in texts) if (texts[name]?.includes("\0") ?? true) texts[name] = "";
          return route.respond(site, { services, request, set, params: texts });
        },
        { parse: "none" },
      );
    }
    return app;
  };
}

/**
 * The router takes `/items/1/` for `/items/1`. But that is also what clients make of `/items/1/parts/..`: no one who
 * meant a part, of any name, may delete the whole.
 */
function refuseDirectory(url: string): void {
  if (/^[^?]*\/(\?|$)/.test(url)) throw new AppError("not_found", "There is nothing at this address.");
}

/** `/api/items/{item_id}` as `/api/items/:itemId`, `/items/{rest*}` as `/items/*`. */
function toRouterPath(path: string): string {
  return path.replace(/\{\w+\*\}$/, "*").replace(/\{(\w+)\}/g, (_, name: string) => `:${toCamelCase(name)}`);
}

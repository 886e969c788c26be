/**
 * Routes that the listener handles itself, for the most frequent requests: the router, its hooks and parsing the URL
 * would take an eighth of such a response. The router has the same routes, and handles unusual requests.
 */
import type { BunRequest } from "bun";
import { hasUsualHost } from "./client-ip.ts";
import { allowedOrigin, corsHeaders } from "./cors.ts";
import { describeFailure, type ErrorDependencies } from "./error-handling.ts";
import { everyResponseHeaders, type HeaderBag, toAppError } from "./problem.ts";
import { contextOf } from "./request-context.ts";

export type DirectRequest = BunRequest<string>;

/** A route for GET. */
export interface DirectRoute {
  /** As written in the routes. */
  readonly path: string;
  /**
   * False for HEAD, which Bun routes here too, and for an unusual host or parameters: the router handles these
   * requests, by their whole URL.
   */
  takes(request: DirectRequest): boolean;
  /** Never rejects. */
  respond(request: DirectRequest): Promise<Response>;
}

interface DirectRouteDefinition {
  path: string;
  isUsual(params: Readonly<Record<string, string>>): boolean;
  /** For a success, in addition to those of every response; `respond` may replace them. */
  headers: Readonly<Record<string, string>>;
  /**
   * The body, or null if the client already has it: 304. `headers` takes what differs from request to request, even for
   * a failure.
   */
  respond(request: DirectRequest, headers: HeaderBag): Promise<string | null>;
}

export function createDirectRoute(dependencies: ErrorDependencies, definition: DirectRouteDefinition): DirectRoute {
  // Copying these and setting a few is cheaper than creating them again.
  const everyHeaders = everyResponseHeaders(dependencies.settings);
  const usualHeaders = new Headers({ ...everyHeaders, ...corsHeaders, ...definition.headers });

  function succeed(body: string | null, varying: HeaderBag): Response {
    const response = new Response(body, { status: body === null ? 304 : 200, headers: usualHeaders });
    if (body === null) response.headers.delete("content-type");
    for (const name in varying) response.headers.set(name, String(varying[name]));
    return response;
  }

  function fail(error: unknown, request: DirectRequest, varying: HeaderBag): Response {
    const { status, headers, body } = describeFailure(dependencies, toAppError(error), request);
    const all = { ...everyHeaders, ...corsHeaders, ...varying, ...headers };
    return new Response(body, { status, headers: all as Record<string, string> });
  }

  return {
    path: definition.path,
    takes: (request) => request.method === "GET" && definition.isUsual(request.params) && hasUsualHost(request),
    async respond(request) {
      const varying: HeaderBag = {
        "x-request-id": contextOf(request, dependencies.ids).requestId,
        "access-control-allow-origin": allowedOrigin(request),
      };
      try {
        return succeed(await definition.respond(request, varying), varying);
      } catch (error) {
        return fail(error, request, varying);
      }
    },
  };
}

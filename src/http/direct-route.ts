/**
 * Routes that the listener handles itself, for the most frequent requests: the router, its hooks and parsing the URL
 * would take an eighth of such a response. The sitemap has the same routes, and handles unusual requests.
 */
import type { BunRequest } from "bun";
import { hasUsualHost } from "./client-ip.ts";
import { allowedOrigin, corsHeaders } from "./cors.ts";
import { describeFailure, type ErrorDoor } from "./error-handling.ts";
import { everyResponseHeaders, type HeaderBag, toAppError } from "./problem.ts";
import { contextOf } from "./request-context.ts";

export type DirectRequest = BunRequest<string>;

/** A route for GET. */
export interface DirectRoute {
  /** As written in the sitemap. */
  readonly path: string;
  /**
   * False for HEAD, which Bun routes here too, and for an unusual host or parameters: the sitemap handles these
   * requests, by their whole URL.
   */
  takes(request: DirectRequest): boolean;
  /** Never rejects. */
  answer(request: DirectRequest): Promise<Response>;
}

interface DirectRouteParts {
  path: string;
  isUsual(params: Readonly<Record<string, string>>): boolean;
  /** For a success, in addition to those of every response; `respond` may replace them. */
  headers: Readonly<Record<string, string>>;
  /**
   * The body, or null if the client already has it: 304. `headers` takes what differs from request to request, even for
   * a failure.
   */
  answer(request: DirectRequest, headers: HeaderBag): Promise<string | null>;
}

export function createDirectRoute(door: ErrorDoor, parts: DirectRouteParts): DirectRoute {
  // Copying these and setting a few is cheaper than creating them anew.
  const everyHeaders = everyResponseHeaders(door.settings);
  const usualHeaders = new Headers({ ...everyHeaders, ...corsHeaders, ...parts.headers });

  function succeed(body: string | null, varying: HeaderBag): Response {
    const response = new Response(body, { status: body === null ? 304 : 200, headers: usualHeaders });
    if (body === null) response.headers.delete("content-type");
    for (const name in varying) response.headers.set(name, String(varying[name]));
    return response;
  }

  function fail(error: unknown, request: DirectRequest, varying: HeaderBag): Response {
    const { status, headers, body } = describeFailure(door, toAppError(error), request);
    const all = { ...everyHeaders, ...corsHeaders, ...varying, ...headers };
    return new Response(body, { status, headers: all as Record<string, string> });
  }

  return {
    path: parts.path,
    takes: (request) => request.method === "GET" && parts.isUsual(request.params) && hasUsualHost(request),
    async answer(request) {
      const varying: HeaderBag = {
        "x-request-id": contextOf(request, door.ids).requestId,
        "access-control-allow-origin": allowedOrigin(request),
      };
      try {
        return succeed(await parts.answer(request, varying), varying);
      } catch (error) {
        return fail(error, request, varying);
      }
    },
  };
}

/**
 * Routes that the listener finds itself, for what is asked most: the way through the router, its hooks and the request's
 * URL would take an eighth of such an answer. The sitemap has the same routes, and answers whatever is unusual.
 */
import type { BunRequest } from "bun";
import { hasUsualHost } from "./client-ip.ts";
import { allowedOrigin, corsHeaders } from "./cors.ts";
import { describeFailure, type ErrorDoor } from "./error-handling.ts";
import { everyResponseHeaders, type HeaderBag, toAppError } from "./problem.ts";
import { contextOf } from "./request-context.ts";

export type DirectRequest = BunRequest<string>;

/** Answers GET. */
export interface DirectRoute {
  /** As written in the sitemap. */
  readonly path: string;
  /**
   * False for HEAD, which Bun brings here too, and for a host or parameters of an unusual form, which the sitemap judges by
   * the whole URL: it is to answer.
   */
  takes(request: DirectRequest): boolean;
  /** Never rejects. */
  answer(request: DirectRequest): Promise<Response>;
}

interface DirectRouteParts {
  path: string;
  isUsual(params: Readonly<Record<string, string>>): boolean;
  /** Of a success, on top of those that every answer has; `answer` may replace them. */
  headers: Readonly<Record<string, string>>;
  /**
   * The body, or null where the client has it already: 304. `headers` takes what differs from request to request, for a
   * failure too.
   */
  answer(request: DirectRequest, headers: HeaderBag): Promise<string | null>;
}

export function createDirectRoute(door: ErrorDoor, parts: DirectRouteParts): DirectRoute {
  // Copying these and setting a few costs less than making all anew.
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

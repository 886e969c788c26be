/**
 * Routes that the listener finds itself, for what is asked most: the way through the router, its hooks and the request's
 * URL would take an eighth of such an answer. The sitemap has the same routes, and answers whatever is unusual.
 */
import type { BunRequest } from "bun";
import type { Awaitable } from "../lib/awaitable.ts";
import { hasUsualHost } from "./client-ip.ts";
import { allowedOrigin, corsHeaders } from "./cors.ts";
import { describeFailure, type ErrorDoor } from "./error-handling.ts";
import { everyAnswerHeaders, type HeaderBag, toAppError } from "./problem.ts";
import { factsOf } from "./request-facts.ts";

export type DirectRequest = BunRequest<string>;

/** Answers GET, and HEAD, whose body Bun leaves out. */
export interface DirectRoute {
  /** As written in the sitemap. */
  readonly path: string;
  /** False for a host or parameters of an unusual form, which the sitemap judges by the whole URL: it is to answer. */
  takes(request: DirectRequest): boolean;
  /** Never throws or rejects. */
  answer(request: DirectRequest): Awaitable<Response>;
}

interface DirectRouteParts {
  path: string;
  isUsual(params: Readonly<Record<string, string>>): boolean;
  /** Of a success, on top of those that every answer has; `answer` may replace them. */
  headers: Readonly<Record<string, string>>;
  /** The body; `headers` takes what differs from request to request, for a failure too. */
  answer(request: DirectRequest, headers: HeaderBag): Awaitable<string>;
}

export function createDirectRoute(door: ErrorDoor, parts: DirectRouteParts): DirectRoute {
  // Copying these and setting a few costs less than making all anew.
  const everyHeaders = everyAnswerHeaders(door.settings);
  const usualHeaders = new Headers({ ...everyHeaders, ...corsHeaders, ...parts.headers });

  function succeed(body: string, varying: HeaderBag): Response {
    const response = new Response(body, { headers: usualHeaders });
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
    takes: (request) => parts.isUsual(request.params) && hasUsualHost(request),
    answer(request) {
      const varying: HeaderBag = {
        "x-request-id": factsOf(request, door.ids).requestId,
        "access-control-allow-origin": allowedOrigin(request),
      };
      try {
        const body = parts.answer(request, varying);
        if (typeof body === "string") return succeed(body, varying);
        return body.then(
          (text) => succeed(text, varying),
          (error: unknown) => fail(error, request, varying),
        );
      } catch (error) {
        return fail(error, request, varying);
      }
    },
  };
}

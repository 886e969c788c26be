/** CORS for the API: reflects the origin, never with credentials; the embed guard decides who may proceed. */
import { cors } from "@elysiajs/cors";
import type { Elysia } from "elysia";

const exposedHeaders = [
  "RateLimit",
  "RateLimit-Policy",
  "Retry-After",
  "X-Session-Id",
  "ETag",
  "Idempotent-Replayed",
  "WWW-Authenticate",
  "X-Request-Id",
].join(", ");

/** The headers that the package sets below, except the origin, for responses that do not pass through it. */
export const corsHeaders = { "access-control-expose-headers": exposedHeaders, vary: "Origin" };

/** The value of `Access-Control-Allow-Origin`. */
export function allowedOrigin(request: Request): string {
  return request.headers.get("origin") || "*";
}

/** Needed only in responses to preflights; the package would send them with every response. */
const preflightHeaders = {
  "access-control-allow-methods": "GET, POST, PUT, PATCH, DELETE",
  "access-control-allow-headers":
    "Authorization, Content-Type, Idempotency-Key, If-Match, Last-Event-ID, X-Visitor-Token, X-Challenge, X-Change-Note",
};

export function apiCors() {
  return (app: Elysia) =>
    app
      .onRequest(({ request, set }) => {
        if (request.method === "OPTIONS") Object.assign(set.headers, preflightHeaders);
      })
      .use(
        cors({
          origin: (request) => isApiPath(request.url),
          credentials: false,
          methods: false,
          // The package sends an empty list as an empty header, but nothing for values that are neither text nor
          // `true`.
          allowedHeaders: null as unknown as string[],
          exposeHeaders: exposedHeaders,
          maxAge: 86_400,
        }),
      );
}

/** Whether the path of an absolute URL is under `/api` or `/v1`; pages and assets set their own CORS headers, or none. */
function isApiPath(url: string): boolean {
  return /^\/(api|v1)([/?]|$)/.test(url.slice(url.indexOf("/", url.indexOf("://") + 3)));
}

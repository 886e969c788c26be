/** CORS for the API: reflects the origin, never with credentials; who may go on is the embed guard's to decide. */
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

/** What the package sets below, but for the origin, for answers that do not pass through it. */
export const corsHeaders = { "access-control-expose-headers": exposedHeaders, vary: "Origin" };

/** For `Access-Control-Allow-Origin`. */
export function allowedOrigin(request: Request): string {
  return request.headers.get("origin") || "*";
}

/** What only an answer to a preflight needs to say; the package would say it with every response. */
const preflightHeaders = {
  "access-control-allow-methods": "GET, POST, PUT, PATCH, DELETE",
  "access-control-allow-headers":
    "Authorization, Content-Type, Idempotency-Key, If-Match, Last-Event-ID, X-Visitor-Token, X-Challenge",
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
          // An empty list would be sent as an empty header; of what is neither text nor `true` it sends nothing.
          allowedHeaders: null as unknown as string[],
          exposeHeaders: exposedHeaders,
          maxAge: 86_400,
        }),
      );
}

/** Whether the path of an absolute URL is under `/api`; pages and assets set their own CORS headers, or none. */
export function isApiPath(url: string): boolean {
  const pathStart = url.indexOf("/", url.indexOf("://") + 3);
  return url.startsWith("/api/", pathStart) || url.slice(pathStart) === "/api";
}

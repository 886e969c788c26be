/** CORS for the API: reflects the origin, never with credentials; who may go on is the embed guard's to decide. */
import { cors } from "@elysiajs/cors";

const exposedHeaders = [
  "RateLimit",
  "RateLimit-Policy",
  "Retry-After",
  "X-Session-Id",
  "X-Request-Id",
  "Idempotent-Replayed",
];

export function apiCors() {
  return cors({
    origin: (request) => isApiPath(request.url),
    credentials: false,
    // A string is sent as it is; a list would be joined anew on every request.
    methods: "GET, POST, PATCH, DELETE",
    allowedHeaders: "Authorization, Content-Type, Idempotency-Key",
    exposeHeaders: exposedHeaders.join(", "),
    maxAge: 86_400,
  });
}

/** Whether the path of an absolute URL is under `/api`; pages and assets set their own CORS headers, or none. */
export function isApiPath(url: string): boolean {
  const pathStart = url.indexOf("/", url.indexOf("://") + 3);
  return url.startsWith("/api/", pathStart) || url.slice(pathStart) === "/api";
}

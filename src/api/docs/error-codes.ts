/** Which errors a route can answer with, for the API document. */
import { type ErrorCode, errorCodes } from "../../domain/errors.ts";
import { isEmbedAccess } from "../../http/api-description.ts";
import type { DescribedRoute } from "./described-route.ts";

/** All errors from guards, body, parameters and the route itself, in the order of the table of codes. */
export function listErrorCodes(operation: DescribedRoute): ErrorCode[] {
  const { access, method, path, body } = operation;
  // A request for a host that is none is invalid on every route.
  const codes = new Set<ErrorCode>(["internal", "unavailable", "invalid_request", ...(operation.errors ?? [])]);
  const add = (...more: ErrorCode[]) => {
    for (const code of more) codes.add(code);
  };
  if (isEmbedAccess(access)) add("rate_limited", "not_found", "origin_not_allowed");
  else if (access !== "public") {
    add("unauthorized", "totp_required", "insufficient_scope", "rate_limited");
    if (method !== "GET") add("origin_not_allowed");
    if (path.includes("{")) add("not_found");
  }
  if (asksVisitor(operation)) add("visitor_unverified");
  if (operation.asksWork) add("challenge_required");
  if (body) add("payload_too_large", "unsupported_media_type");
  // Creating can exceed a limit, and so can storing the responses.
  if (operation.isIdempotent) add("conflict", "idempotency_mismatch", "limit_reached");
  return (Object.keys(errorCodes) as ErrorCode[]).filter((code) => codes.has(code));
}

/** Whether it looks at visitor tokens. */
export function asksVisitor({ access, isPageView }: DescribedRoute): boolean {
  return isEmbedAccess(access) && isPageView !== true;
}

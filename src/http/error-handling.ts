/** Turns everything thrown, every unknown path and every wrong method into problem details, or a page for browsers; logs what the outside must not see. */
import { Elysia } from "elysia";
import type { Services } from "../dependencies.ts";
import { AppError, errorCodes } from "../domain/errors.ts";
import { prefersHtml, varyBy } from "./accept.ts";
import { baseUrlOf } from "./base-url.ts";
import { errorPagePolicy, renderErrorPage } from "./error-page.ts";
import { writePageHeaders } from "./html.ts";
import { applyProblem, type HeaderBag, renderProblem, toAppError } from "./problem.ts";
import { contextOf } from "./request-context.ts";

export type ErrorDoor = Pick<Services, "settings" | "ids" | "log">;

export interface Failure {
  readonly status: number;
  /** The failure's own; whoever answers adds what every answer has, and what the request was told before it failed. */
  readonly headers: HeaderBag;
  /** Null where nobody is left to read it. */
  readonly body: string | null;
}

/** `allowedMethods` tells which methods a path has routes for: none is 404, others are 405 with `Allow`. */
export function errorHandling(door: ErrorDoor, allowedMethods: (path: string) => string[]) {
  return new Elysia({ name: "error-handling" }).onError({ as: "global" }, ({ error, code, request, set, path }) => {
    const explained = explain(error, code, () => allowedMethods(path));
    const { status, headers, body } = describeFailure(door, explained, request);
    Object.assign(set.headers, headers);
    if (body === null || isForPrograms(path)) return new Response(body, { status });
    varyBy(set.headers, "Accept");
    if (!prefersHtml(request)) return new Response(body, { status });
    writePageHeaders(set.headers, errorPagePolicy());
    set.headers["cache-control"] = "no-store";
    return new Response(renderErrorPage(explained, contextOf(request, door.ids).requestId), { status });
  });
}

/** What is answered to a failure, which is logged where it is ours. */
export function describeFailure(door: ErrorDoor, error: AppError, request: Request): Failure {
  const facts = contextOf(request, door.ids);
  // The visitor has gone; nobody reads the answer, and it is no failure of ours.
  if (request.signal.aborted) return { status: 499, headers: {}, body: null };
  if (errorCodes[error.code].status >= 500) {
    const cause = error.cause ?? error;
    const fields = { requestId: facts.requestId, code: error.code, error: cause };
    if (error.code === "internal") door.log.error("request failed", fields);
    else door.log.warn("request failed", fields);
  }
  const headers: HeaderBag = {};
  const status = applyProblem(error, headers);
  return { status, headers, body: renderProblem(error, facts.requestId, baseUrlOf(door.settings, request)) };
}

/** Where a page would be of no use to anyone, whatever they say that they take. */
function isForPrograms(path: unknown): boolean {
  return typeof path !== "string" || /^\/+(api|v1)(\/|$)/.test(path);
}

function explain(thrown: unknown, code: string | number, findMethods: () => string[]): AppError {
  if (code === "NOT_FOUND") {
    const methods = findMethods();
    if (methods.length === 0) return new AppError("not_found", "There is nothing at this address.");
    return new AppError("method_not_allowed", `This address answers ${methods.join(", ")} only.`, {
      headers: { allow: methods.join(", ") },
    });
  }
  if (code === "PARSE" || code === "VALIDATION" || code === "INVALID_COOKIE_SIGNATURE") {
    return new AppError("invalid_request", "The request could not be understood.", { cause: thrown });
  }
  return toAppError(thrown);
}

/**
 * Turns every error, unknown path and wrong method into problem details, or a page for browsers; logs what clients must
 * not see.
 */
import { Elysia } from "elysia";
import type { Services } from "../core/dependencies.ts";
import { AppError, errorCodes } from "../domain/errors.ts";
import { baseUrlOf } from "./base-url.ts";
import { prefersHtml, varyBy } from "./compression.ts";
import { plainPolicy, renderErrorPage, writePageHeaders } from "./html.ts";
import { isOpenAiPath, retryHeaders, toOpenAiError } from "./openai-error.ts";
import { applyProblem, type HeaderBag, renderProblem, toAppError } from "./problem.ts";
import { contextOf } from "./request-context.ts";

export type ErrorDependencies = Pick<Services, "settings" | "ids" | "log">;

export interface Failure {
  readonly status: number;
  /** Only the failure's own; the caller adds the common headers, and those set before the failure. */
  readonly headers: HeaderBag;
  /** Null if no one is left to read it. */
  readonly body: string | null;
}

/** `allowedMethods` lists the methods of a path: 404 if there are none, otherwise 405 with `Allow`. */
export function errorHandling(dependencies: ErrorDependencies, allowedMethods: (path: string) => string[]) {
  return new Elysia({ name: "error-handling" }).onError({ as: "global" }, ({ error, code, request, set, path }) => {
    const explained = explain(error, code, path, () => allowedMethods(path));
    const { status, headers, body } = describeFailure(dependencies, explained, request);
    Object.assign(set.headers, headers);
    if (body === null || isForPrograms(path)) return new Response(body, { status });
    varyBy(set.headers, "Accept");
    if (!prefersHtml(request)) return new Response(body, { status });
    writePageHeaders(set.headers, plainPolicy());
    set.headers["cache-control"] = "no-store";
    return new Response(renderErrorPage(explained, contextOf(request, dependencies.ids).requestId), { status });
  });
}

/** The response to a failure; failures of the server are logged. */
export function describeFailure(dependencies: ErrorDependencies, error: AppError, request: Request): Failure {
  const facts = contextOf(request, dependencies.ids);
  // The visitor has left: no one reads the response, and it is not our failure.
  if (request.signal.aborted) return { status: 499, headers: {}, body: null };
  if (errorCodes[error.code].status >= 500 && !error.isWanted) {
    const cause = error.cause ?? error;
    const fields = { requestId: facts.requestId, code: error.code, error: cause };
    if (error.code === "internal") dependencies.log.error("request failed", fields);
    else dependencies.log.warn("request failed", fields);
  }
  const headers: HeaderBag = {};
  const status = applyProblem(error, headers);
  if (isOpenAiPath(pathOf(request.url))) {
    Object.assign(headers, { "content-type": "application/json", ...retryHeaders(error) });
    return { status, headers, body: JSON.stringify({ error: toOpenAiError(error) }) };
  }
  return { status, headers, body: renderProblem(error, facts.requestId, baseUrlOf(dependencies.settings, request)) };
}

function pathOf(url: string): string {
  const [path = ""] = url.slice(url.indexOf("/", url.indexOf("://") + 3)).split("?", 1);
  return path;
}

/** Paths where a page would be useless, no matter what the client accepts. */
function isForPrograms(path: unknown): boolean {
  return typeof path !== "string" || /^\/+(api|v1)(\/|$)/.test(path);
}

/** OpenAI's clients call many addresses that are not here, and show nothing but the sentence. */
const openAiAddresses = "There are POST /v1/chat/completions, GET /v1/models and GET /v1/models/{id}.";

function explain(thrown: unknown, code: string | number, path: string, findMethods: () => string[]): AppError {
  if (code === "NOT_FOUND") {
    const methods = findMethods();
    if (methods.length === 0) {
      const detail = "There is nothing at this address.";
      return new AppError("not_found", isOpenAiPath(path) ? `${detail} ${openAiAddresses}` : detail);
    }
    return new AppError("method_not_allowed", `This address answers ${methods.join(", ")} only.`, {
      headers: { allow: methods.join(", ") },
    });
  }
  if (code === "PARSE" || code === "VALIDATION" || code === "INVALID_COOKIE_SIGNATURE") {
    return new AppError("invalid_request", "The request could not be understood.", { cause: thrown });
  }
  return toAppError(thrown);
}

/** Calls to the management API with the session's cookie, and failures as sentences that can be shown. */

export interface FieldProblem {
  param: string;
  detail: string;
}

export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly fields: readonly FieldProblem[];
  /** All that the server said of it. */
  readonly problem: Record<string, unknown>;

  constructor(message: string, status: number, code: string, problem: Record<string, unknown> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.fields = Array.isArray(problem["errors"]) ? problem["errors"] : [];
    this.problem = problem;
  }
}

export type Query = Record<string, string | number | null | undefined>;

interface CallOptions {
  /** A file is sent as it is. */
  body?: unknown;
  query?: Query;
  signal?: AbortSignal;
  accept?: string;
  headers?: Record<string, string>;
  /** Only if it still has this tag: otherwise it is 412, and nothing changes. */
  ifMatch?: string | undefined;
}

const tags = new WeakMap<object, string>();

/** The `ETag` with which `call` received this. */
export function tagOf(received: object): string | undefined {
  return tags.get(received);
}

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Here a 401 means a wrong password, not a session that has ended. */
const waysIn = /^\/api\/session(\/set-up|\/password-reset|\/invitation|\/link|\/current)?$/;

let whenRefused: (isTotpRequired: boolean) => void = () => {};

/** What happens when the session is over, or needs a second factor that the account has yet to set up. */
export function onRefused(act: (isTotpRequired: boolean) => void): void {
  whenRefused = act;
}

/** Resolves with the response's JSON (undefined for 204); rejects with `ApiError`. */
export async function call<Result>(method: Method, path: string, options: CallOptions = {}): Promise<Result> {
  const response = await send(method, path, options);
  if (response.status === 204) return undefined as Result;
  const received = (await response.json()) as Result & object;
  // Proxies that compress make a tag weak, and a weak one never matches.
  const tag = response.headers.get("etag")?.replace(/^W\//, "");
  if (tag !== undefined) tags.set(received, tag);
  return received;
}

/** Resolves with the response itself where its status is 2xx; rejects with `ApiError`. */
export async function send(
  method: Method,
  path: string,
  { body, query, signal, accept, ifMatch, headers: more }: CallOptions = {},
): Promise<Response> {
  const headers: Record<string, string> = { ...more };
  const isJson = body !== undefined && !(body instanceof Blob);
  if (isJson) headers["content-type"] = "application/json";
  if (accept !== undefined) headers.accept = accept;
  if (ifMatch !== undefined) headers["if-match"] = ifMatch;
  const content = isJson ? JSON.stringify(body) : ((body as Blob | undefined) ?? null);
  const init: RequestInit = { method, headers, body: content, credentials: "same-origin", cache: "no-store" };
  if (signal !== undefined) init.signal = signal;
  let response: Response;
  try {
    response = await fetch(path + toSearch(query), init);
  } catch (cause) {
    if (signal?.aborted) throw cause;
    throw toFailure(path, 0, null);
  }
  if (response.ok) return response;
  throw toFailure(path, response.status, await response.json().catch(() => null));
}

/**
 * The error of a response whose status is not 2xx, or 0 if there was none. Asks for a new sign-in where the session has
 * ended.
 */
export function toFailure(path: string, status: number, body: unknown): ApiError {
  const problem = Object(body);
  const fallback =
    status === 0
      ? "The server cannot be reached. Check the connection, then try again."
      : `The server responded with status ${status}. Try again in a moment.`;
  const error = new ApiError(
    typeof problem.detail === "string" ? problem.detail : fallback,
    status,
    typeof problem.code === "string" ? problem.code : "unknown",
    problem,
  );
  if (status !== 401 || waysIn.test(path)) return error;
  const isTotpRequired = error.code === "totp_required";
  whenRefused(isTotpRequired);
  return isTotpRequired ? error : new ApiError("Your session has ended. Sign in, then try again.", 401, error.code);
}

export function toSearch(query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== "") search.set(name, String(value));
  }
  return search.size > 0 ? `?${search}` : "";
}

/** A sentence for whatever was thrown. */
export function toSentence(error: unknown): string {
  return error instanceof ApiError ? error.message : "Something went wrong here. Reload the page and try again.";
}

/** The error of one field, if the server refused it or a part of it. */
export function fieldProblem(error: unknown, param: string): string | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const found = error.fields.find((field) => field.param === param || field.param.startsWith(`${param}.`));
  return found?.detail;
}

/**
 * What of a form is sent: only the fields that differ, so that changes made elsewhere in the meantime are not undone.
 */
export function changedFields<Body extends object>(before: Body, after: Body): Partial<Body> {
  const known = new Map(Object.entries(before));
  const isChanged = ([name, value]: [string, unknown]) => JSON.stringify(value) !== JSON.stringify(known.get(name));
  return Object.fromEntries(Object.entries(after).filter(isChanged)) as Partial<Body>;
}

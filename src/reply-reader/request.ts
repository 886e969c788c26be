/** One request to the server: deadlines, errors as `CompanionError`, and further tries where they can do no harm. */
import { CompanionError, type ConnectionErrorCode, readProblem } from "./errors.ts";
import { sleep, type Wait } from "./waiting.ts";

/** The part of `fetch` that is used. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface RequestOptions {
  fetch: Fetch;
  signal: AbortSignal | undefined;
  /** Silence of the server that ends the request with `timeout`. */
  timeoutMs: number;
  /** Retries at most. */
  retries: number;
  /** A longer wait requested by the server is left to the caller. */
  maxRetryWaitMs: number;
  /** Whether the failure means that a second try cannot do a thing twice. */
  canRetry(error: CompanionError): boolean;
  /** Default `sleep`. */
  wait?: Wait | undefined;
}

export interface OpenedResponse {
  response: Response;
  /** Waits for the next part of the body, under the same deadline; a broken connection is the given failure. */
  next<Part>(part: Promise<Part>, failure?: ConnectionErrorCode): Promise<Part>;
  /** Ends the request. Must be called. Without `isRead` what is left of it is given up, as a failed request. */
  close(isRead?: boolean): void;
}

/**
 * Resolves with a response of status 2xx, or with what `use` makes of it; what that rejects with is tried again as well.
 * Rejects with the signal's reason once that fires.
 */
export async function request<Value = OpenedResponse>(
  url: string,
  init: RequestInit,
  options: RequestOptions,
  use?: (opened: OpenedResponse) => Value | Promise<Value>,
): Promise<Value> {
  for (let attempt = 0; ; attempt++) {
    try {
      const opened = await tryOnce(url, init, options);
      return use ? await use(opened) : (opened as Value);
    } catch (error) {
      if (!(error instanceof CompanionError) || attempt >= options.retries || !options.canRetry(error)) throw error;
      const waitMs = error.retryAfterMs ?? 500 * 2 ** attempt * (1 + Math.random());
      if (waitMs > options.maxRetryWaitMs) throw error;
      await (options.wait ?? sleep)(waitMs, options.signal);
    }
  }
}

async function tryOnce(
  url: string,
  init: RequestInit,
  { fetch, signal, timeoutMs }: RequestOptions,
): Promise<OpenedResponse> {
  const controller = new AbortController();
  let isLate = false;
  const leave = () => controller.abort(signal?.reason);
  const close = (isRead = false) => {
    signal?.removeEventListener("abort", leave);
    if (!isRead) controller.abort();
  };
  const next: OpenedResponse["next"] = async (part, failure = "network") => {
    const timer = setTimeout(() => {
      isLate = true;
      controller.abort();
    }, timeoutMs);
    try {
      return await part;
    } catch (cause) {
      signal?.throwIfAborted();
      throw new CompanionError(isLate ? "timeout" : failure, { cause, isCut: true });
    } finally {
      clearTimeout(timer);
    }
  };

  signal?.throwIfAborted();
  signal?.addEventListener("abort", leave);
  try {
    const response = await next(fetch(url, { ...init, signal: controller.signal }));
    if (!response.ok) throw await next(readProblem(response));
    return { response, next, close };
  } catch (error) {
    close();
    throw error;
  }
}

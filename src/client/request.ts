/** One request to the server: where it goes, its deadlines, and its failures as `CompaniondError`. */
import { CompaniondError, readProblem } from "./errors.ts";

/** The part of `fetch` that is used. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface CallOptions {
  /** Ends the call; it then rejects with the signal's reason (an `AbortError`). */
  signal?: AbortSignal | undefined;
  /** Silence of the server that ends a try with `timeout`; default the client's. */
  timeoutMs?: number | undefined;
  /** Further tries, only where they cannot do a thing twice; default the client's. */
  maxRetries?: number | undefined;
}

export interface OpenedResponse {
  readonly response: Response;
  /** Waits for the next part of the body, under the same deadline. */
  next<Part>(part: Promise<Part>): Promise<Part>;
  /** Must be called. Whatever is left of the body is given up. */
  close(): void;
}

interface RequestOptions {
  fetch: Fetch;
  signal: AbortSignal | undefined;
  timeoutMs: number;
}

/** Resolves with a response of status 2xx. Rejects with the signal's reason once that fires. */
export async function openRequest(url: string, init: RequestInit, options: RequestOptions): Promise<OpenedResponse> {
  const { fetch, signal, timeoutMs } = options;
  const controller = new AbortController();
  let isLate = false;
  const leave = () => controller.abort(signal?.reason);
  const close = () => {
    signal?.removeEventListener("abort", leave);
    controller.abort();
  };
  const next: OpenedResponse["next"] = async (part) => {
    const timer = setTimeout(() => {
      isLate = true;
      controller.abort();
    }, timeoutMs);
    try {
      return await part;
    } catch (cause) {
      signal?.throwIfAborted();
      throw new CompaniondError(isLate ? "timeout" : "network", {
        message: isLate ? `The server was silent for ${timeoutMs} ms.` : "The connection to the server failed.",
        cause,
      });
    } finally {
      clearTimeout(timer);
    }
  };

  signal?.throwIfAborted();
  signal?.addEventListener("abort", leave, { once: true });
  try {
    const response = await next(fetch(url, { ...init, signal: controller.signal }));
    if (!response.ok) throw await next(readProblem(response));
    return { response, next, close };
  } catch (error) {
    close();
    throw error;
  }
}

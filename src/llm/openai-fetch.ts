/** The `fetch` that the openai client is given: our own sockets below, and the body of a success left to be read raw. */
import type { HttpClient } from "./http/client.ts";
import type { HttpBody } from "./http/exchange.ts";

/** What of an error's body is kept: enough for its message. */
const maxErrorBytes = 64 * 1024;
/** The headers that the openai client and the retries look at. */
const passedHeaders = ["content-type", "retry-after", "retry-after-ms", "x-should-retry", "x-request-id"];

export interface ProviderFetch {
  fetch(url: string | URL | Request, init?: RequestInit): Promise<Response>;
  /** The body behind a 2xx response of this fetch, whose own `body` is empty: a web stream costs more than the reply. */
  takeBody(response: Response): HttpBody;
}

export function createProviderFetch(client: HttpClient): ProviderFetch {
  const bodies = new WeakMap<Response, HttpBody>();
  return {
    async fetch(input, init = {}) {
      const { body } = init;
      if (typeof body !== "string") throw new TypeError("the body of a provider request is text");
      const {
        status,
        headers,
        body: answer,
      } = await client.send({
        url: new URL(input instanceof Request ? input.url : input),
        method: init.method ?? "POST",
        headers: new Headers(init.headers),
        body,
        signal: init.signal ?? new AbortController().signal,
      });
      const passed = new Headers();
      for (const name of passedHeaders) {
        const value = headers.get(name);
        if (value !== undefined) passed.set(name, value);
      }
      if (status >= 200 && status < 300) {
        // Always 200: the constructor refuses a body for some, and to us all successes are the same.
        const response = new Response(null, { status: 200, headers: passed });
        bodies.set(response, answer);
        return response;
      }
      const text = await readBounded(answer, init.signal ?? null);
      // A redirect is not followed: the key must not travel to an address that the operator did not write.
      return new Response(status === 304 ? null : text, { status: status < 200 ? 502 : status, headers: passed });
    },
    takeBody(response) {
      const body = bodies.get(response);
      if (body === undefined) throw new TypeError("no such response");
      bodies.delete(response);
      return body;
    },
  };
}

/** The beginning of a body, as much as there is of it when it ends, breaks or grows too long. */
function readBounded(body: HttpBody, signal: AbortSignal | null): Promise<Uint8Array<ArrayBuffer>> {
  return new Promise((resolve) => {
    let bytes = "";
    const finish = () => {
      signal?.removeEventListener("abort", finish);
      body.cancel();
      resolve(new Uint8Array(Buffer.from(bytes.slice(0, maxErrorBytes), "latin1")));
    };
    if (signal?.aborted) {
      finish();
      return;
    }
    signal?.addEventListener("abort", finish, { once: true });
    body.read({
      data(parts) {
        bytes += parts.join("");
        if (bytes.length >= maxErrorBytes) finish();
      },
      end: finish,
      fail: finish,
    });
  });
}

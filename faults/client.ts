/** An API client that checks every response: a 5xx, or anything not in the API document, is recorded. */
import { checkConformance, Nonconformance } from "../test/support/conformance.ts";
import type { Tally } from "./row.ts";

export interface Call {
  method: string;
  path: string;
  /** Sent as JSON, except strings and bytes, which are sent unchanged. */
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
}

export interface ApiResponse {
  status: number;
  headers: Headers;
  text: string;
  /** The JSON body, or an empty object if it is not JSON. */
  readonly json: ResponseBody;
}

/** The fields of all responses; each response has some of them. */
export interface ResponseBody {
  id: string;
  data: ResponseBody[];
  key: string;
  token: string;
  embed_token: string;
  code: string;
  errors?: { param: string; detail: string }[];
  next_cursor: string | null;
  [other: string]: unknown;
}

export interface Client {
  readonly url: string;
  /** The headers that authenticate the client. */
  readonly credentials: Readonly<Record<string, string>>;
  /** `allowed`: statuses from 500 on that are expected for this call. */
  send(call: Call, allowed?: readonly number[]): Promise<ApiResponse>;
}

/** Faults of any row that calls the API. */
export const apiFaults = ["5xx responses", "undocumented responses"] as const;

export function createClient(
  url: string,
  credentials: Readonly<Record<string, string>>,
  tally: Tally,
  /** Statuses from 500 on that are expected. */
  allowed: readonly number[] = [],
): Client {
  return {
    url,
    credentials,
    async send({ method, path, body, headers = {} }, allowedHere = []) {
      const isRaw = typeof body === "string" || body instanceof Uint8Array;
      const init = {
        method,
        headers: {
          ...credentials,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: isRaw ? body : JSON.stringify(body) }),
      };
      tally.did("requests");
      let response: Response;
      try {
        if (method === "GET" && endless.test(path)) {
          const begun = await readBeginning(url + path, init);
          if (begun instanceof Response) response = begun;
          else return toResponse(begun.status, begun.headers, begun.text);
        } else response = await fetch(url + path, init);
        await checkConformance(method, url + path, response);
      } catch (error) {
        // Under `bun test` the error may come from `fetch` itself, which keeps the response then.
        if (!(error instanceof Nonconformance)) throw error;
        tally.fault("undocumented responses", error.message);
        return toResponse(0, new Headers(), "");
      }
      const text = await response.text();
      if (response.status >= 500 && ![...allowed, ...allowedHere].includes(response.status)) {
        tally.fault("5xx responses", `${method} ${path.slice(0, 200)}: ${response.status} ${text}`);
      }
      return toResponse(response.status, response.headers, text);
    },
  };
}

/** Streams that go on until the client leaves. */
const endless = /\/live(?:\?|$)|^\/api\/inbox\/events/;

/** The first of such a stream, whose rest is left; any other response as it is. */
async function readBeginning(url: string, init: RequestInit) {
  const leaving = new AbortController();
  const response = await fetch(url, { ...init, signal: leaving.signal });
  const { status, headers, body } = response;
  if (!headers.get("content-type")?.startsWith("text/event-stream") || body === null) return response;
  const { value } = await Promise.race([body.getReader().read(), Bun.sleep(500).then(() => ({ value: undefined }))]);
  leaving.abort();
  return { status, headers, text: value === undefined ? "" : new TextDecoder().decode(value) };
}

function toResponse(status: number, headers: Headers, text: string): ApiResponse {
  return {
    status,
    headers,
    text,
    get json() {
      return text.startsWith("{") ? JSON.parse(text) : {};
    },
  };
}

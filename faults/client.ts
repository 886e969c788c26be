/** A caller of the API whose answers are all looked at: anything 5xx, or not as the API document says, is noted. */
import { checkConformance, Nonconformance } from "../test/support/conformance.ts";
import type { Tally } from "./row.ts";

export interface Call {
  method: string;
  path: string;
  /** Sent as JSON; a string or bytes are sent as they are. */
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** The body as JSON, empty where it is none. */
  readonly json: ResponseBody;
}

/** Fields of whatever is answered, of which each answer has some. */
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
  /** The headers that open the door. */
  readonly credentials: Readonly<Record<string, string>>;
  /** `allowed`: statuses from 500 on that are right for this call. */
  send(call: Call, allowed?: readonly number[]): Promise<Answer>;
}

/** What must not happen in any row that calls the API. */
export const apiFaults = ["answers 5xx", "undocumented answers"] as const;

export function createClient(
  url: string,
  credentials: Readonly<Record<string, string>>,
  tally: Tally,
  /** Statuses from 500 on that are right here. */
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
        response = await fetch(url + path, init);
        await checkConformance(method, url + path, response);
      } catch (error) {
        // Under `bun test` it may come from `fetch` itself, which then keeps the answer.
        if (!(error instanceof Nonconformance)) throw error;
        tally.fault("undocumented answers", error.message);
        return toResponse(0, new Headers(), "");
      }
      const text = await response.text();
      if (response.status >= 500 && ![...allowed, ...allowedHere].includes(response.status)) {
        tally.fault("answers 5xx", `${method} ${path.slice(0, 200)}: ${response.status} ${text}`);
      }
      return toResponse(response.status, response.headers, text);
    },
  };
}

function toResponse(status: number, headers: Headers, text: string): Answer {
  return {
    status,
    headers,
    text,
    get json() {
      return text.startsWith("{") ? JSON.parse(text) : {};
    },
  };
}

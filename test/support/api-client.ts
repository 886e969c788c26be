/** A client of the management API, as on a platform's server. */
import { expect } from "bun:test";
import type { ErrorCode } from "../../src/domain/errors.ts";

export interface ApiResponse {
  status: number;
  headers: Headers;
  text: string;
  /** The JSON body; reading it fails the test if there is none. */
  readonly json: ResponseBody;
}

/** The fields of all responses; each response has some of them. */
export interface ResponseBody {
  id: string;
  data: ResponseBody[];
  next_cursor: string | null;
  key: string;
  token: string;
  embed_token: string;
  type: string;
  detail: string;
  request_id: string;
  errors: { param: string; detail: string }[];
  [other: string]: unknown;
}

export interface ApiClient {
  /** `body` is sent as JSON; a string, a form and bytes with their type are sent unchanged. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiResponse>;
}

export function apiClient(url: string, key: string | null): ApiClient {
  return {
    async call(method, path, body, headers = {}) {
      const isForm = body instanceof FormData || body instanceof Blob;
      const response = await fetch(`${url}${path}`, {
        method,
        headers: {
          ...(key === null ? {} : { authorization: `Bearer ${key}` }),
          ...(body === undefined || isForm ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === "string" || isForm ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      return {
        status: response.status,
        headers: response.headers,
        text,
        get json() {
          return JSON.parse(text);
        },
      };
    },
  };
}

/** Expects problem details with this status and code, and returns the response. */
export function expectProblem(response: ApiResponse, status: number, code: ErrorCode): ApiResponse {
  expect({ status: response.status, type: response.headers.get("content-type"), body: response.text }).toMatchObject({
    status,
    type: "application/problem+json",
  });
  expect(response.json).toMatchObject({ status, code, title: expect.any(String), detail: expect.any(String) });
  expect(response.json.type).toEndWith(`/docs/errors#${code}`);
  expect(response.json.request_id).toBe(response.headers.get("x-request-id") ?? "none sent");
  return response;
}

/** Expects `invalid_request` for exactly these fields, in any order. */
export function expectInvalid(response: ApiResponse, params: readonly string[]): ApiResponse {
  expectProblem(response, 400, "invalid_request");
  const named = response.json.errors.map((error) => error.param);
  expect(named.toSorted()).toEqual([...params].toSorted());
  return response;
}

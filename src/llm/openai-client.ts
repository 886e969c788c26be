/**
 * The openai package behind a door of its own: what it knows of addresses, authentication and refusals.
 *
 * It makes the head of the requests once, and what it makes of a refusal is asked for when there is one; the request
 * itself, which is the body and a socket, it has no part in. Loading it would take longer than opening the whole store,
 * so it waits for the first reply.
 */
import OpenAI, { APIError } from "openai";
import type { RequestHead } from "./http/client.ts";
import type { ResponseHead } from "./http/response-reader.ts";
import { isTransientStatus, ProviderFailure } from "./provider-failure.ts";

export interface OpenAiClientOptions {
  apiKey: string | null;
  /** Up to and including `/v1`. */
  baseUrl: string;
}

/** What every request for a reply has in common. */
export async function buildRequestHead({ apiKey, baseUrl }: OpenAiClientOptions): Promise<RequestHead> {
  const client = new OpenAI({
    // The package insists on a key; without one the header that would carry it is taken out.
    apiKey: apiKey ?? "none",
    // The package would name itself after a class that the compiled program calls otherwise.
    defaultHeaders: { "User-Agent": "companiond", ...(apiKey === null ? { Authorization: null } : {}) },
    baseURL: baseUrl,
    // Otherwise taken from the environment, which is read in one place only.
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    logLevel: "off",
  });
  const { req, url } = await client.buildRequest({ method: "post", path: "/chat/completions", body: {} });
  return { url: new URL(url), method: "POST", headers: new Headers(req.headers) };
}

/** A response that is no success, in the provider's own words. */
export function readRefusal({ status, headers }: ResponseHead, text: string): ProviderFailure {
  const body = parseObject(text);
  // A redirect is one too: the key must not travel to an address that the operator did not write.
  const { message } = APIError.generate(status, body, body === undefined ? text : undefined, new Headers());
  return new ProviderFailure(`the provider answered ${message}`, {
    status,
    isTransient: isTransientStatus(status) && headers.get("x-should-retry") !== "false",
    retryAfterMs: readRetryAfterMs(headers.get("retry-after") ?? null),
  });
}

function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function readRetryAfterMs(value: string | null): number | null {
  const waitMs =
    value !== null && /^\d+(\.\d+)?$/.test(value) ? Number(value) * 1000 : Date.parse(value ?? "") - Date.now();
  return Number.isFinite(waitMs) && waitMs >= 0 ? waitMs : null;
}

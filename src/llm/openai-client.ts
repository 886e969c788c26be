/** The openai package behind a door of its own: loading it would take longer than opening the whole store, so it waits for the first reply. */
import OpenAI, { APIConnectionError, APIError } from "openai";
import type { ChatCompletionCreateParamsStreaming } from "openai/resources/chat/completions";
import { isTransientStatus, ProviderFailure } from "./provider-failure.ts";

export interface OpenAiClientOptions {
  apiKey: string | null;
  /** Up to and including `/v1`. */
  baseUrl: string;
  fetch: (url: string | URL | Request, init?: RequestInit) => Promise<Response>;
  timeoutMs: number;
}

export interface OpenAiClient {
  /** Resolves with the response of a success; rejects with a `ProviderFailure`, in the provider's own words, otherwise. */
  requestReply(body: ChatCompletionCreateParamsStreaming, signal: AbortSignal): Promise<Response>;
}

export function createOpenAiClient({ apiKey, baseUrl, fetch, timeoutMs }: OpenAiClientOptions): OpenAiClient {
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
    fetch,
    // Ours also cover a connection that breaks between the head and the first text, and one deadline spans them all.
    maxRetries: 0,
    timeout: timeoutMs,
  });
  return {
    async requestReply(body, signal) {
      try {
        return await client.chat.completions.create(body, { signal }).asResponse();
      } catch (error) {
        throw toFailure(error);
      }
    },
  };
}

function toFailure(error: unknown): unknown {
  if (error instanceof APIConnectionError) {
    const reason = error.cause instanceof Error ? error.cause.message : error.message;
    return new ProviderFailure(reason, { isTransient: true });
  }
  if (!(error instanceof APIError)) return error;
  const headers = error.headers instanceof Headers ? error.headers : null;
  return new ProviderFailure(`the provider answered ${error.message}`, {
    status: error.status ?? null,
    isTransient: isTransientStatus(error.status) && headers?.get("x-should-retry") !== "false",
    retryAfterMs: readRetryAfterMs(headers),
  });
}

function readRetryAfterMs(headers: Headers | null): number | null {
  const value = headers?.get("retry-after") ?? null;
  if (value === null) return null;
  const waitMs = /^\d+(\.\d+)?$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(waitMs) && waitMs >= 0 ? waitMs : null;
}

/** The engine for OpenAI and every endpoint that speaks its chat completions. */
import OpenAI, { APIConnectionError, APIError } from "openai";
import type { JsonObject } from "../domain/companion.ts";
import { AppError } from "../domain/errors.ts";
import type { Log } from "../lib/log.ts";
import { createHttpClient } from "./http/client.ts";
import type { HttpBody } from "./http/exchange.ts";
import { createProviderFetch } from "./openai-fetch.ts";
import { relayReply } from "./openai-relay.ts";
import { buildRequestBody, learnFromRefusal, type ModelQuirks } from "./openai-request.ts";
import { removePrivateWords } from "./private-words.ts";
import type { LlmProvider, ReplyOutcome, ReplyRequest, ReplySink } from "./provider.ts";
import { isTransientStatus, ProviderFailure } from "./provider-failure.ts";
import { type ReplyDeadlines, ReplyWatch, replyDeadlines } from "./reply-watch.ts";
import { chooseRetryDelayMs } from "./retry.ts";

export interface OpenAiOptions {
  apiKey: string | null;
  /** Up to and including `/v1`; null is OpenAI itself. */
  baseUrl: string | null;
  extra: JsonObject;
  log: Log;
  /** Tests shorten these. */
  deadlines?: Partial<ReplyDeadlines>;
  backoffMs?: number;
}

const openAiUrl = "https://api.openai.com/v1";
/** Further attempts after the first. */
const maxRetries = 2;
const publicSentence = "The language model could not answer. Try again in a moment.";
const publicSentenceInTime = "The language model did not answer in time. Try again in a moment.";

export function createOpenAiProvider(options: OpenAiOptions): LlmProvider {
  const { apiKey, log } = options;
  const baseUrl = options.baseUrl ?? openAiUrl;
  const isOpenAi = new URL(baseUrl).hostname === "api.openai.com";
  const deadlines = { ...replyDeadlines, ...options.deadlines };
  const http = createHttpClient();
  const providerFetch = createProviderFetch(http);
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
    fetch: providerFetch.fetch,
    // Ours also cover a connection that breaks between the head and the first text, and one deadline spans them all.
    maxRetries: 0,
    timeout: deadlines.totalMs,
  });
  const rules = { boundName: isOpenAi ? "max_completion_tokens" : "max_tokens", extra: options.extra } as const;
  const quirksByModel = new Map<string, ModelQuirks>();

  function findQuirks(model: string): ModelQuirks {
    let quirks = quirksByModel.get(model);
    if (quirks === undefined) {
      quirks = { refusesStreamOptions: false, refusesMaxTokens: false };
      quirksByModel.set(model, quirks);
    }
    return quirks;
  }

  /** Sends the request, and again without a parameter that the model refuses; resolves with the body of a success. */
  async function openBody(request: ReplyRequest, signal: AbortSignal): Promise<HttpBody> {
    const quirks = findQuirks(request.model);
    for (;;) {
      const body = buildRequestBody(request, rules, quirks);
      try {
        return providerFetch.takeBody(await client.chat.completions.create(body, { signal }).asResponse());
      } catch (error) {
        const isRefused = error instanceof APIError && (error.status === 400 || error.status === 422);
        if (!isRefused || !learnFromRefusal(error.message, body, quirks)) throw error;
        log.info("provider refuses a parameter", { requestId: request.requestId, model: request.model, ...quirks });
      }
    }
  }

  function openWatched(request: ReplyRequest, watch: ReplyWatch): Promise<HttpBody> {
    const opening = new AbortController();
    watch.onOver = () => opening.abort();
    return openBody(request, opening.signal);
  }

  async function streamReply(request: ReplyRequest, sink: ReplySink, signal: AbortSignal): Promise<ReplyOutcome> {
    const watch = new ReplyWatch(deadlines, signal);
    const clean = (text: string) => removePrivateWords(text, apiKey, request);
    try {
      for (let retries = 0; !watch.isOver; retries++) {
        try {
          const outcome = await relayReply(await openWatched(request, watch), sink, watch);
          return outcome.failure === null ? outcome : { ...outcome, failure: toFailure(outcome.failure, clean) };
        } catch (error) {
          if (watch.isOver) break;
          const failure = toFailure(error, clean);
          if (!failure.isTransient || retries === maxRetries)
            throw new AppError("upstream_error", publicSentence, { cause: failure });
          const delayMs = chooseRetryDelayMs(retries, failure.retryAfterMs, options.backoffMs);
          const { requestId } = request;
          log.info("provider failed, trying again", { requestId, retry: retries + 1, delayMs, error: failure });
          await watch.sleep(delayMs);
        }
      }
      if (watch.hasLeft) return { complete: false, usage: null, failure: null };
      throw new AppError("upstream_error", publicSentenceInTime, { cause: watch.expired });
    } finally {
      watch.stop();
    }
  }

  return { name: "openai", streamReply, close: () => http.close() };
}

/** The private reason as the log may hold it. */
function toFailure(error: unknown, clean: (text: string) => string): ProviderFailure {
  if (error instanceof ProviderFailure) {
    const { isTransient, retryAfterMs } = error;
    return new ProviderFailure(clean(error.message), { isTransient, retryAfterMs });
  }
  if (error instanceof APIConnectionError) {
    const cause = error.cause instanceof Error ? error.cause.message : error.message;
    return new ProviderFailure(clean(cause), { isTransient: true });
  }
  if (error instanceof APIError) {
    const headers = error.headers instanceof Headers ? error.headers : null;
    return new ProviderFailure(clean(`the provider answered ${error.message}`), {
      isTransient: isTransientStatus(error.status) && headers?.get("x-should-retry") !== "false",
      retryAfterMs: readRetryAfterMs(headers),
    });
  }
  return new ProviderFailure(clean(error instanceof Error ? `${error.name}: ${error.message}` : String(error)));
}

function readRetryAfterMs(headers: Headers | null): number | null {
  const value = headers?.get("retry-after") ?? null;
  if (value === null) return null;
  const waitMs = /^\d+(\.\d+)?$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(waitMs) && waitMs >= 0 ? waitMs : null;
}

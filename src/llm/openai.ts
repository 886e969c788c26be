/** The engine for OpenAI and every endpoint that speaks its chat completions. */
import OpenAI, { APIConnectionError, APIError } from "openai";
import type { JsonObject } from "../domain/companion.ts";
import { AppError } from "../domain/errors.ts";
import type { Log } from "../lib/log.ts";
import { createHttpClient } from "./http/client.ts";
import { createProviderFetch } from "./openai-fetch.ts";
import { relayReply } from "./openai-relay.ts";
import { buildRequestBody, learnFromRefusal, type ModelQuirks } from "./openai-request.ts";
import type { LlmProvider, ReplyOutcome, ReplyRequest, ReplySink } from "./provider.ts";
import { isTransientStatus, ProviderFailure } from "./provider-failure.ts";
import { type ReplyDeadlines, ReplyWatch, replyDeadlines } from "./reply-watch.ts";
import { chooseRetryDelayMs, sleep } from "./retry.ts";

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
    defaultHeaders: apiKey === null ? { Authorization: null } : {},
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

  async function attempt(
    request: ReplyRequest,
    sink: ReplySink,
    watch: ReplyWatch,
    stop: AbortSignal,
  ): Promise<ReplyOutcome> {
    const quirks = findQuirks(request.model);
    for (;;) {
      const body = buildRequestBody(request, rules, quirks);
      try {
        const response = await client.chat.completions.create(body, { signal: stop }).asResponse();
        return await relayReply(providerFetch.takeBody(response), sink, watch, stop);
      } catch (error) {
        const isRefused = error instanceof APIError && (error.status === 400 || error.status === 422);
        if (!isRefused || !learnFromRefusal(error.message, body, quirks)) throw toFailure(error, apiKey);
        log.info("provider refuses a parameter", { requestId: request.requestId, model: request.model, ...quirks });
      }
    }
  }

  async function streamReply(request: ReplyRequest, sink: ReplySink, signal: AbortSignal): Promise<ReplyOutcome> {
    const left: ReplyOutcome = { complete: false, usage: null, failure: null };
    if (signal.aborted) return left;
    const stop = new AbortController();
    const onLeft = () => stop.abort();
    signal.addEventListener("abort", onLeft, { once: true });
    const watch = new ReplyWatch(deadlines, (expired) => stop.abort(expired));
    try {
      for (let retries = 0; ; retries++) {
        let failure: ProviderFailure;
        try {
          return await attempt(request, sink, watch, stop.signal);
        } catch (error) {
          failure = toFailure(error, apiKey);
        }
        const delayMs = chooseRetryDelayMs(retries, failure.retryAfterMs, options.backoffMs);
        if (!stop.signal.aborted && failure.isTransient && retries < maxRetries) {
          const { requestId } = request;
          log.info("provider failed, trying again", { requestId, retry: retries + 1, delayMs, error: failure });
          await sleep(delayMs, stop.signal);
        } else if (!stop.signal.aborted) throw new AppError("upstream_error", publicSentence, { cause: failure });
        if (signal.aborted) return left;
        if (stop.signal.aborted)
          throw new AppError("upstream_error", publicSentenceInTime, { cause: stop.signal.reason });
      }
    } finally {
      watch.stop();
      signal.removeEventListener("abort", onLeft);
    }
  }

  return { name: "openai", streamReply, close: () => http.close() };
}

/** The private reason as the log may hold it: with the provider's own words, without our key. */
function toFailure(error: unknown, apiKey: string | null): ProviderFailure {
  if (error instanceof ProviderFailure) return error;
  const scrub = (text: string) => (apiKey === null ? text : text.replaceAll(apiKey, "[key]")).slice(0, 2000);
  if (error instanceof APIConnectionError) {
    const cause = error.cause instanceof Error ? error.cause.message : error.message;
    return new ProviderFailure(scrub(cause), { isTransient: true });
  }
  if (error instanceof APIError) {
    const headers = error.headers instanceof Headers ? error.headers : null;
    return new ProviderFailure(scrub(`the provider answered ${error.message}`), {
      isTransient: isTransientStatus(error.status) && headers?.get("x-should-retry") !== "false",
      retryAfterMs: readRetryAfterMs(headers),
    });
  }
  return new ProviderFailure(scrub(error instanceof Error ? `${error.name}: ${error.message}` : String(error)));
}

function readRetryAfterMs(headers: Headers | null): number | null {
  const value = headers?.get("retry-after") ?? null;
  if (value === null) return null;
  const waitMs = /^\d+(\.\d+)?$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(waitMs) && waitMs >= 0 ? waitMs : null;
}

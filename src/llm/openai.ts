/** The engine for OpenAI and every endpoint that speaks its chat completions. */
import type { JsonObject } from "../domain/companion.ts";
import { AppError } from "../domain/errors.ts";
import { plainProviderName } from "../domain/model-routes.ts";
import { readBounded } from "../lib/http/bounded-text.ts";
import { createHttpClient, type HttpTarget } from "../lib/http/client.ts";
import type { HttpBody } from "../lib/http/exchange.ts";
import type { Log } from "../lib/log.ts";
import type { StopSignal } from "../lib/stop-signal.ts";
import { type AttemptingProvider, maxRetries, type ReplyAttempt } from "./attempt.ts";
import { openAiUrl } from "./openai-address.ts";
import type { readRefusal } from "./openai-client.ts";
import { relayReply } from "./openai-relay.ts";
import { buildRequestBody, learnFromRefusal, type ModelQuirks } from "./openai-request.ts";
import { listSecrets, removePrivateWords } from "./private-words.ts";
import type { ReplyOutcome, ReplyRequest, ReplySink } from "./provider.ts";
import { toProviderFailure } from "./provider-failure.ts";
import { type ReplyDeadlines, ReplyWatch, replyDeadlines } from "./reply-watch.ts";
import { chooseRetryDelayMs } from "./retry.ts";

export interface OpenAiOptions {
  /** As in `LlmProvider`; that of the plain settings unless given. */
  name?: string;
  apiKey: string | null;
  /** Up to and including `/v1`; null means OpenAI itself. */
  baseUrl: string | null;
  extra: JsonObject;
  /** Added to every request; none unless given. */
  headers?: Readonly<Record<string, string>>;
  log: Log;
  /** Shortened in tests. */
  deadlines?: Partial<ReplyDeadlines>;
  backoffMs?: number;
}

/** Loaded and created with the first reply. */
interface Opened {
  target: HttpTarget;
  readRefusal: typeof readRefusal;
}

const publicSentence = "The language model could not answer. Try again in a moment.";
const publicSentenceInTime = "The language model did not answer in time. Try again in a moment.";

export function createOpenAiProvider(options: OpenAiOptions): AttemptingProvider {
  const { name = plainProviderName, apiKey, headers = {}, log } = options;
  const secrets = listSecrets(apiKey, headers);
  const baseUrl = options.baseUrl ?? openAiUrl;
  const isOpenAi = new URL(baseUrl).hostname === "api.openai.com";
  const deadlines = { ...replyDeadlines, ...options.deadlines };
  const http = createHttpClient({
    onSurplus: (origin) =>
      log.warn("provider sent unrequested bytes: keeping no connection to it for a while", { origin }),
  });
  let opening: Promise<Opened> | null = null;
  const rules = { boundName: isOpenAi ? "max_completion_tokens" : "max_tokens", extra: options.extra } as const;
  const quirksByModel = new Map<string, ModelQuirks>();

  async function open(): Promise<Opened> {
    const { buildRequestHead, readRefusal } = await import("./openai-client.ts");
    const head = await buildRequestHead({ apiKey, baseUrl, path: "/chat/completions", headers });
    return { target: http.prepare(head), readRefusal };
  }

  function findQuirks(model: string): ModelQuirks {
    let quirks = quirksByModel.get(model);
    if (quirks === undefined) {
      quirks = { refusesStreamOptions: false, refusesMaxTokens: false, refusesRepeatedRoles: false };
      quirksByModel.set(model, quirks);
    }
    return quirks;
  }

  /**
   * Sends the request, and repeats it without a parameter that the model refuses; resolves with the body of a success.
   */
  async function openBody(request: ReplyRequest, signal: AbortSignal): Promise<HttpBody> {
    const quirks = findQuirks(request.model);
    opening ??= open();
    const { target, readRefusal } = await opening;
    for (;;) {
      const body = buildRequestBody(request, rules, quirks);
      const response = await http.send(target, JSON.stringify(body), signal);
      if (response.status >= 200 && response.status < 300) return response.body;
      const refusal = readRefusal(response, await readBounded(response.body, signal));
      // What a model's template refuses is an error of the server's own to some.
      const isAboutRequest = refusal.status === 400 || refusal.status === 422 || refusal.status === 500;
      if (!isAboutRequest || !learnFromRefusal(refusal.message, body, quirks)) throw refusal;
      log.info("provider refuses a parameter", { requestId: request.requestId, model: request.model, ...quirks });
    }
  }

  function openWatched(request: ReplyRequest, watch: ReplyWatch): Promise<HttpBody> {
    const waiting = new AbortController();
    watch.onOver = () => waiting.abort();
    return openBody(request, waiting.signal);
  }

  async function streamReply(
    request: ReplyRequest,
    sink: ReplySink,
    signal: StopSignal,
    attempt?: ReplyAttempt,
  ): Promise<ReplyOutcome> {
    const watch = new ReplyWatch(attempt === undefined ? deadlines : within(deadlines, attempt), signal);
    const lastRetry = attempt?.maxRetries ?? maxRetries;
    const answeredBy = { provider: name, model: request.model };
    const clean = (text: string) => removePrivateWords(text, secrets, request);
    try {
      for (let retries = 0; !watch.isOver; retries++) {
        try {
          const outcome = await relayReply(await openWatched(request, watch), sink, watch);
          const failure = outcome.failure === null ? null : toProviderFailure(outcome.failure, clean);
          return { ...outcome, answeredBy, failure };
        } catch (error) {
          if (watch.isOver) break;
          const failure = toProviderFailure(error, clean);
          if (!failure.isTransient || retries === lastRetry)
            throw new AppError("upstream_error", publicSentence, { cause: failure });
          const delayMs = chooseRetryDelayMs(retries, failure.retryAfterMs, options.backoffMs);
          const { requestId } = request;
          log.info("provider failed, trying again", { requestId, retry: retries + 1, delayMs, error: failure });
          await watch.sleep(delayMs);
        }
      }
      if (watch.hasLeft) return { complete: false, usage: null, answeredBy, finishReason: null, failure: null };
      throw new AppError("upstream_error", publicSentenceInTime, { cause: watch.expired });
    } finally {
      watch.stop();
    }
  }

  const listAnswerers = (model: string) => [{ provider: name, model }];
  const listBounds = ({ model, maxOutputTokens }: ReplyRequest) => [
    { answerer: { provider: name, model }, maxOutputTokens },
  ];
  return { name, streamReply, listAnswerers, listBounds, close: () => http.close() };
}

/** A chain has asked others before, and all of them have one time together. */
function within(deadlines: ReplyDeadlines, { firstTextMs, spentMs }: ReplyAttempt): ReplyDeadlines {
  return { ...deadlines, firstTextMs, totalMs: deadlines.totalMs - spentMs };
}

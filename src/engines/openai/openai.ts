/** The engine for OpenAI and every endpoint that speaks one of its two APIs. */
import {
  type AttemptingProvider,
  maxRetries,
  type ReplyAttempt,
  type ReplyDeadlines,
  replyDeadlines,
} from "../../contracts/llm/attempt.ts";
import type { ReplyOutcome, ReplyRequest, ReplySink } from "../../contracts/llm/provider.ts";
import { type ProviderFailure, toProviderFailure } from "../../contracts/llm/provider-failure.ts";
import type { JsonObject } from "../../domain/companion.ts";
import { AppError } from "../../domain/errors.ts";
import { isJsonObject } from "../../domain/json.ts";
import type { LlmApi } from "../../domain/llm-api.ts";
import { plainProviderName } from "../../domain/model-routes.ts";
import type { ReasoningEffort } from "../../domain/reasoning.ts";
import { noTokens } from "../../domain/usage.ts";
import { readBounded } from "../../lib/http/bounded-text.ts";
import { createHttpClient, type HttpTarget } from "../../lib/http/client.ts";
import { ConnectionError } from "../../lib/http/connection.ts";
import type { HttpBody } from "../../lib/http/exchange.ts";
import type { Log } from "../../lib/log.ts";
import { Stop, type StopSignal } from "../../lib/stop-signal.ts";
import { openAiUrl } from "./address.ts";
import { type NextReplyCall, ReplyCalls } from "./calls.ts";
import { Carry } from "./carry.ts";
import type { readRefusal } from "./client.ts";
import { KnownModel } from "./model-facts.ts";
import { listSecrets, removePrivateWords } from "./private-words.ts";
import { relayReply } from "./reply-relay.ts";
import { ReplyStream } from "./reply-stream.ts";
import { type ReplyTime, ReplyWatch } from "./reply-watch.ts";
import { chooseRetryDelayMs } from "./retry.ts";
import type { Wire } from "./wire.ts";
import { chooseWire, isOpenAi } from "./wire-choice.ts";

export interface OpenAiOptions {
  /** As in `LlmProvider`; that of the plain settings unless given. */
  name?: string;
  apiKey: string | null;
  /** Up to and including `/v1`; null means OpenAI itself. */
  baseUrl: string | null;
  extra: JsonObject;
  /** Added to every request; none unless given. */
  headers?: Readonly<Record<string, string>>;
  /** `auto` unless given. */
  api?: LlmApi;
  /** For requests that name no effort; that of the wire unless given. */
  reasoningEffort?: ReasoningEffort | null;
  /** Added to the bound of a model that thinks; 0 unless given. */
  reasoningTokens?: number;
  log: Log;
  /** Shortened in tests. */
  deadlines?: Partial<ReplyDeadlines>;
  /** Replaced in tests. */
  time?: ReplyTime;
  backoffMs?: number;
}

/** Created with the first request of its wire. */
interface Opened {
  target: HttpTarget;
  readRefusal: typeof readRefusal;
}

const publicSentence = "The language model could not answer. Try again in a moment.";
const publicSentenceInTime = "The language model did not answer in time. Try again in a moment.";

export function createOpenAiProvider(options: OpenAiOptions): AttemptingProvider {
  const { name = plainProviderName, apiKey, headers = {}, extra, log } = options;
  const secrets = listSecrets(apiKey, headers);
  const baseUrl = options.baseUrl ?? openAiUrl;
  const deadlines = { ...replyDeadlines, ...options.deadlines };
  const http = createHttpClient({
    onSurplus: (origin) =>
      log.warn("provider sent unrequested bytes: keeping no connection to it for a while", { origin }),
  });
  const opening: Partial<Record<Wire["name"], Promise<Opened>>> = {};
  const chosen = chooseWire(options.api ?? "auto", baseUrl, extra);
  if (chosen.because.length > 0) {
    log.info("members of the operator's object keep a provider at chats", { provider: name, members: chosen.because });
  }
  const rules = {
    isOpenAi: isOpenAi(baseUrl),
    boundName: isOpenAi(baseUrl) ? "max_completion_tokens" : "max_tokens",
    effort: options.reasoningEffort ?? null,
    reasoningTokens: options.reasoningTokens ?? 0,
    extra,
  } as const;
  const terms = { provider: name, chosen, rules, log };
  const knownModels = new Map<string, KnownModel>();

  async function open({ path }: Wire): Promise<Opened> {
    const { buildRequestHead, readRefusal } = await import("./client.ts");
    const head = await buildRequestHead({ apiKey, baseUrl, path, headers });
    return { target: http.prepare(head), readRefusal };
  }

  function findCalls(request: ReplyRequest): ReplyCalls {
    let known = knownModels.get(request.model);
    if (known === undefined) {
      known = new KnownModel();
      knownModels.set(request.model, known);
    }
    return new ReplyCalls(request, terms, known);
  }

  /** Sends the request; resolves with the body of a success. */
  async function openBody(request: ReplyRequest, { wire, plan }: NextReplyCall, signal: StopSignal): Promise<HttpBody> {
    opening[wire.name] ??= open(wire);
    const { target, readRefusal } = await (opening[wire.name] ?? open(wire));
    const response = await http.send(target, JSON.stringify(wire.buildBody(request, plan)), signal);
    if (response.status >= 200 && response.status < 300) return response.body;
    throw readRefusal(response, await readBounded(response.body, signal));
  }

  /** Not a closure of each reply, which would keep all that the reply knows. */
  function clean(error: unknown, request: ReplyRequest): ProviderFailure {
    return toProviderFailure(error, (text) => removePrivateWords(text, secrets, request));
  }

  function openWatched(request: ReplyRequest, call: NextReplyCall, watch: ReplyWatch): Promise<HttpBody> {
    const waiting = new Stop();
    watch.step = { stop: () => waiting.abort(new Error("the reply is over")) };
    return openBody(request, call, waiting);
  }

  async function streamReply(
    request: ReplyRequest,
    sink: ReplySink,
    signal: StopSignal,
    attempt?: ReplyAttempt,
  ): Promise<ReplyOutcome> {
    const limits = attempt === undefined ? deadlines : within(deadlines, attempt);
    const watch = new ReplyWatch(limits, signal, options.time);
    const lastRetry = attempt?.maxRetries ?? maxRetries;
    const answeredBy = { provider: name, model: request.model };
    const hasStops = (request.stop?.length ?? 0) > 0;
    const calls = findCalls(request);
    let retries = 0;
    /** Of the call before, and what is charged for it as long as it has not been reported to the gate. */
    let failure: ProviderFailure | null = null;
    let { maxOutputTokens: sentOutputTokens } = request;
    try {
      while (!watch.isOver) {
        const call = calls.next();
        if (failure !== null && request.gate !== undefined) {
          const next = { answerer: answeredBy, maxOutputTokens: call.plan.maxOutputTokens, before: failure.charged };
          const isPermitted: boolean = await request.gate.permit(next);
          failure = failure.with({ charged: null });
          if (!isPermitted) throw new AppError("upstream_error", publicSentence, { cause: failure });
          if (watch.isOver) break;
        }
        sentOutputTokens = call.plan.maxOutputTokens;
        const stream = new ReplyStream(call.wire.createReader(call.round), call.plan.ownStops);
        let body: HttpBody | null = null;
        try {
          body = await openWatched(request, call, watch);
          const relayed = { answeredBy, sentOutputTokens, body, stream, hasStops, calls, call };
          const outcome = await relayReply(relayed, sink, watch);
          calls.noteEnd(call, stream);
          if (isJsonObject(outcome.carry)) outcome.carry = new Carry(answeredBy, call.wire.name, outcome.carry);
          if (outcome.failure !== null) outcome.failure = clean(outcome.failure, request);
          return outcome;
        } catch (error) {
          calls.noteEnd(call, stream);
          failure = clean(error, request);
          // A caller that has left, or waited too long, does not know what the provider goes on with.
          if (body !== null || watch.isOver || (error instanceof ConnectionError && error.wasOpen)) {
            const { usage, reasoningBytes } = stream;
            const callBytes = stream.reader.asked?.bytes ?? 0;
            failure = failure.with({ charged: { answeredBy, usage, reasoningBytes, callBytes, sentOutputTokens } });
          }
          if (watch.isOver) break;
        }
        if (calls.grantsExtra(failure, call)) continue;
        if (!failure.isTransient || failure.hasAsked || retries === lastRetry)
          throw new AppError("upstream_error", publicSentence, { cause: failure });
        const delayMs = chooseRetryDelayMs(retries, failure.retryAfterMs, options.backoffMs);
        retries++;
        const { requestId } = request;
        log.info("provider failed, trying again", { requestId, retry: retries, delayMs, error: failure });
        await watch.sleep(delayMs);
      }
      const charged = failure?.charged ?? null;
      if (watch.hasLeft) {
        const call = charged ?? { answeredBy, usage: noTokens };
        return { ...call, complete: false, finishReason: null, failure: null };
      }
      const cause = watch.expired?.with({ charged, hasAsked: failure?.hasAsked ?? false });
      throw new AppError("upstream_error", publicSentenceInTime, { cause });
    } finally {
      watch.stop();
    }
  }

  function foresee(request: ReplyRequest) {
    const { wire, plan } = findCalls(request).next();
    return { wire: wire.name, effort: plan.effort, maxOutputTokens: plan.maxOutputTokens };
  }

  const listAnswerers = (model: string) => [{ provider: name, model }];
  const listBounds = (request: ReplyRequest) => [
    { answerer: { provider: name, model: request.model }, maxOutputTokens: foresee(request).maxOutputTokens },
  ];
  return { name, streamReply, foresee, listAnswerers, listBounds, close: () => http.close() };
}

/** A chain has asked others before, and all of them have one time together. */
function within(deadlines: ReplyDeadlines, { firstTextMs, spentMs }: ReplyAttempt): ReplyDeadlines {
  const reasoningMs = Math.max(firstTextMs, deadlines.reasoningMs - spentMs);
  return { ...deadlines, firstTextMs, reasoningMs, totalMs: deadlines.totalMs - spentMs };
}

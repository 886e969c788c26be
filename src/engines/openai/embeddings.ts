/** The engine for embeddings of OpenAI and every endpoint that speaks its wire. */
import { maxRetries } from "../../contracts/llm/attempt.ts";
import {
  type EmbeddedTexts,
  type EmbeddingCalls,
  type EmbeddingProvider,
  maxEmbeddedLength,
} from "../../contracts/llm/embeddings.ts";
import { ProviderFailure, toProviderFailure } from "../../contracts/llm/provider-failure.ts";
import { AppError } from "../../domain/errors.ts";
import { plainProviderName } from "../../domain/model-routes.ts";
import { startDeadline, waitFor } from "../../lib/deadline.ts";
import { readBody } from "../../lib/http/body-bytes.ts";
import { readBounded } from "../../lib/http/bounded-text.ts";
import { createHttpClient, type HttpTarget } from "../../lib/http/client.ts";
import { ConnectionError } from "../../lib/http/connection.ts";
import type { Log } from "../../lib/log.ts";
import { openAiUrl } from "./address.ts";
import type { readRefusal } from "./client.ts";
import { listSecrets, removeWords } from "./private-words.ts";
import { chooseRetryDelayMs } from "./retry.ts";
import { readVectors } from "./vectors.ts";

export interface OpenAiEmbeddingOptions {
  apiKey: string | null;
  /** Up to and including `/v1`; null means OpenAI itself. */
  baseUrl: string | null;
  /** Added to every request; none unless given. */
  headers?: Readonly<Record<string, string>>;
  model: string;
  log: Log;
  /** Shortened in tests. */
  timeoutMs?: number;
  backoffMs?: number;
}

interface Opened {
  target: HttpTarget;
  readRefusal: typeof readRefusal;
}

const publicSentence = "The embedding model could not answer. Try again in a moment.";
const publicSentenceInTime = "The embedding model did not answer in time. Try again in a moment.";

/** Vectors as text are four times as long, and parsing them holds up everyone else. */
const maxTexts = { asBytes: 96, asNumbers: 16 };
/** A response of 96 vectors of 4 096 dimensions, and some. */
const maxResponseBytes = 16 * 1024 * 1024;

export function createOpenAiEmbeddings(options: OpenAiEmbeddingOptions): EmbeddingProvider {
  const { apiKey, baseUrl, headers = {}, model, log, timeoutMs = 60_000, backoffMs } = options;
  const secrets = listSecrets(apiKey, headers);
  const http = createHttpClient({
    onSurplus: (origin) =>
      log.warn("provider sent unrequested bytes: keeping no connection to it for a while", { origin }),
  });
  let opening: Promise<Opened> | null = null;
  /** What the provider has shown so far. */
  const learnt = { refusesBase64: false, sendsNumbers: false };

  async function open(): Promise<Opened> {
    const { buildRequestHead, readRefusal } = await import("./client.ts");
    const head = await buildRequestHead({ apiKey, baseUrl: baseUrl ?? openAiUrl, path: "/embeddings", headers });
    return { target: http.prepare(head), readRefusal };
  }

  /** Resolves with why it was refused. */
  async function send(body: { input: readonly string[] }, signal: AbortSignal, calls: EmbeddingCalls | undefined) {
    opening ??= open();
    const { target, readRefusal } = await opening;
    let mayCharge = true;
    try {
      const response = await http.send(target, JSON.stringify(body), signal);
      mayCharge = response.status >= 200 && response.status < 300;
      if (!mayCharge) return readRefusal(response, await readBounded(response.body, signal));
      const { bytes, isCut } = await readBody(response.body, maxResponseBytes, signal);
      if (isCut) throw new ProviderFailure("the response is larger than 16 MiB");
      const { areNumbers, ...embedded } = readVectors(bytes.toString("utf8"), body.input);
      if (areNumbers) learnt.sendsNumbers = true;
      return embedded;
    } catch (error) {
      if (mayCharge && !(error instanceof ConnectionError && !error.wasOpen)) calls?.noteUncounted();
      throw error;
    }
  }

  async function ask(texts: readonly string[], signal: AbortSignal, calls?: EmbeddingCalls): Promise<EmbeddedTexts> {
    for (;;) {
      const isBase64 = !learnt.refusesBase64;
      const body = { model, input: texts, ...(isBase64 ? { encoding_format: "base64" } : {}) };
      const refusal = await send(body, signal, calls);
      if (!(refusal instanceof ProviderFailure)) return refusal;
      signal.throwIfAborted();
      const isAboutRequest = refusal.status === 400 || refusal.status === 422;
      if (!isBase64 || !isAboutRequest || !refusal.message.includes("encoding_format")) throw refusal;
      learnt.refusesBase64 = true;
      log.info("provider refuses a parameter", { model, refusesBase64: true });
      if (calls !== undefined && !(await calls.permit())) throw refusal;
    }
  }

  async function embed(given: readonly string[], signal: AbortSignal, calls?: EmbeddingCalls): Promise<EmbeddedTexts> {
    const texts = given.map(cut);
    const late = new ProviderFailure(`no response within ${timeoutMs / 1000} s`, { kind: "timed_out" });
    const deadline = startDeadline(signal, timeoutMs, () => late);
    try {
      for (let retries = 0; ; retries++) {
        try {
          return await ask(texts, deadline.signal, calls);
        } catch (error) {
          deadline.signal.throwIfAborted();
          const failure = toProviderFailure(error, (text) => removeWords(text, secrets, texts));
          const refused = new AppError("upstream_error", publicSentence, { cause: failure });
          if (!failure.isTransient || retries === maxRetries) throw refused;
          const delayMs = chooseRetryDelayMs(retries, failure.retryAfterMs, backoffMs);
          log.info("embedding failed, trying again", { model, retry: retries + 1, delayMs, error: failure });
          await waitFor(delayMs, deadline.signal);
          if (calls !== undefined && !(await calls.permit())) throw refused;
        }
      }
    } catch (error) {
      throw error === late ? new AppError("upstream_error", publicSentenceInTime, { cause: late }) : error;
    } finally {
      deadline.end();
    }
  }

  return {
    name: plainProviderName,
    model,
    get maxTexts() {
      return learnt.sendsNumbers ? maxTexts.asNumbers : maxTexts.asBytes;
    },
    embed,
    close: () => http.close(),
  };
}

/** Not within a surrogate pair: half of one is no text. */
function cut(text: string): string {
  return text.length > maxEmbeddedLength ? text.slice(0, maxEmbeddedLength).toWellFormed() : text;
}

/** Asks providers for one word, for `doctor`. */
import type { AttemptingProvider, ForeseenCall, ReplyAttempt } from "../../contracts/llm/attempt.ts";
import type { ReplyRequest } from "../../contracts/llm/provider.ts";
import { textParts } from "../../domain/conversation.ts";
import { nameAnswerer } from "../../domain/model-routes.ts";
import { type FailureKind, findFailureKind } from "../../domain/reply-failure.ts";
import type { Answerer } from "../../domain/usage.ts";

interface LlmCheck extends Pick<ForeseenCall, "wire" | "effort"> {
  isAnswering: boolean;
  /** What the provider or the connection reported; private, for the operator. Null if it replies. */
  detail: string | null;
  /** Of the failure; null if it replies. */
  kind: FailureKind | null;
}

/** Requests a word and stops at the first text: checks address, key and model. */
export async function checkLlm(
  provider: AttemptingProvider,
  model: string,
  { maxOutputTokens, attempt }: { maxOutputTokens: number; attempt?: ReplyAttempt },
): Promise<LlmCheck> {
  const hangUp = new AbortController();
  const sink = {
    emit() {
      hangUp.abort();
      return undefined;
    },
  };
  const request = {
    systemPrompt: null,
    messages: [{ role: "user" as const, parts: textParts("Say hello in one word.") }],
    model,
    temperature: null,
    reasoningEffort: null,
    // As much as a chat may have: models may think first.
    maxOutputTokens,
    accountId: "",
    requestId: "check",
  };
  try {
    await provider.streamReply(request, sink, hangUp.signal, attempt);
    return { isAnswering: true, detail: null, kind: null, ...describeCall(provider, request) };
  } catch (error) {
    const reason = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const detail = reason instanceof Error ? reason.message : String(reason);
    const kind = findFailureKind(error) ?? "provider_error";
    return { isAnswering: false, detail, kind, ...describeCall(provider, request) };
  }
}

/** By what has just been learnt. */
function describeCall(provider: AttemptingProvider, request: ReplyRequest): Pick<ForeseenCall, "wire" | "effort"> {
  const { wire, effort } = provider.foresee(request);
  return { wire, effort };
}

export interface EntryCheck extends LlmCheck {
  answerer: Answerer;
}

/** How long to wait for each first word, and how many are asked: in parallel, and in all. */
const checkLimits = { firstTextMs: 10_000, atOnce: 8, entries: 64 };

/** Asks each of them once, without retries; in the order given. */
export async function checkEntries(
  engines: ReadonlyMap<string, AttemptingProvider>,
  answerers: readonly Answerer[],
  maxOutputTokens: number,
  { firstTextMs, atOnce, entries } = checkLimits,
): Promise<EntryCheck[]> {
  const distinct = [...new Map(answerers.map((one) => [nameAnswerer(one), one])).values()].slice(0, entries);
  const attempt = { firstTextMs, spentMs: 0, maxRetries: 0 };
  const found: EntryCheck[] = [];
  const waiting = distinct.entries();
  const askInTurn = async () => {
    for (const [index, answerer] of waiting) {
      const engine = engines.get(answerer.provider);
      if (engine === undefined) continue;
      found[index] = { answerer, ...(await checkLlm(engine, answerer.model, { maxOutputTokens, attempt })) };
    }
  };
  await Promise.all(Array.from({ length: atOnce }, askInTurn));
  return found;
}

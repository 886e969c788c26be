/** Asks providers for one word, for `doctor`. */
import { textParts } from "../domain/conversation.ts";
import { nameAnswerer } from "../domain/model-routes.ts";
import type { Answerer } from "../domain/usage.ts";
import type { AttemptingProvider } from "./attempt.ts";
import type { LlmProvider } from "./provider.ts";

interface LlmCheck {
  isAnswering: boolean;
  /** What the provider or the connection reported; private, for the operator. Null if it replies. */
  detail: string | null;
}

/** Requests a word and stops at the first text: checks address, key and model. */
export async function checkLlm(provider: LlmProvider, model: string): Promise<LlmCheck> {
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
    // Reasoning models think within this limit too.
    maxOutputTokens: 1024,
    requestId: "check",
  };
  try {
    await provider.streamReply(request, sink, hangUp.signal);
    return { isAnswering: true, detail: null };
  } catch (error) {
    const reason = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return { isAnswering: false, detail: reason instanceof Error ? reason.message : String(reason) };
  }
}

export interface EntryCheck extends LlmCheck {
  answerer: Answerer;
}

/** How long to wait for each first word, and how many are asked: at once, and in all. */
const checkLimits = { firstTextMs: 10_000, atOnce: 8, entries: 64 };

/** Asks each of them once, without retries; in the order given. */
export async function checkEntries(
  engines: ReadonlyMap<string, AttemptingProvider>,
  answerers: readonly Answerer[],
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
      const once: LlmProvider = { ...engine, streamReply: (...call) => engine.streamReply(...call, attempt) };
      found[index] = { answerer, ...(await checkLlm(once, answerer.model)) };
    }
  };
  await Promise.all(Array.from({ length: atOnce }, askInTurn));
  return found;
}

/** Picks the engine of the language-model socket. */
import type { JsonObject } from "../domain/companion.ts";
import { textParts } from "../domain/conversation.ts";
import type { Log } from "../lib/log.ts";
import { createDemoProvider } from "./demo.ts";
import { createOpenAiProvider } from "./openai.ts";
import type { LlmProvider } from "./provider.ts";

export interface LlmConfig {
  apiKey: string | null;
  /** Up to and including `/v1`; null means OpenAI itself. Works without a key. */
  baseUrl: string | null;
  /** Merged into every request. */
  extra: JsonObject | null;
}

/** The demo is used only if nothing is configured: never in place of a provider that fails. */
export function openLlmProvider(config: LlmConfig, { log }: { log: Log }): LlmProvider {
  const { apiKey, baseUrl, extra } = config;
  if (apiKey !== null || baseUrl !== null) return createOpenAiProvider({ apiKey, baseUrl, extra: extra ?? {}, log });
  log.warn("no language model is configured: the built-in demo replies", { set: "OPENAI_API_KEY or OPENAI_BASE_URL" });
  return createDemoProvider();
}

export interface LlmCheck {
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

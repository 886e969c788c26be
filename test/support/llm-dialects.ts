/** The wire of each vendor in the form of recordings, made from documents and issues, and the expected result. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import type { CountedTokens } from "../../src/domain/usage.ts";

export interface Dialect {
  /** In `test/fixtures/llm`. */
  file: string;
  contentType: string;
  text: string;
  usage: (Pick<CountedTokens, "inputTokens" | "outputTokens"> & Partial<CountedTokens>) | null;
  isComplete: boolean;
  /** The private reason; null if there is none. */
  failure: RegExp | null;
}

function whole(file: string, text: string, inputTokens?: number, outputTokens?: number): Dialect {
  const usage = inputTokens === undefined || outputTokens === undefined ? null : { inputTokens, outputTokens };
  return { file, contentType: contentTypeOf(file), text, usage, isComplete: true, failure: null };
}

/** Vendors count cached tokens in different fields. */
function cached(file: string, text: string, inputTokens: number, outputTokens: number, cachedTokens: number): Dialect {
  return { ...whole(file, text), usage: { inputTokens, outputTokens, cachedTokens } };
}

/** Vendors that count thoughts, or what they write into their cache. */
function counted(file: string, text: string, usage: Dialect["usage"]): Dialect {
  return { ...whole(file, text), usage };
}

function broken(file: string, text: string, failure: RegExp): Dialect {
  return { file, contentType: contentTypeOf(file), text, usage: null, isComplete: false, failure };
}

function contentTypeOf(file: string): string {
  if (file.endsWith(".sse")) return "text/event-stream; charset=utf-8";
  return file.endsWith(".html") ? "text/html" : "application/json";
}

export const dialects: readonly Dialect[] = [
  whole("openai.sse", 'Hello! Café au lait – "quoted"\nEmoji: 👋 done.', 23, 19),
  whole("openai-refusal.sse", "I'm sorry, I can't help with that."),
  whole("azure.sse", "The capital is Paris.", 14, 6),
  whole("openrouter.sse", "Twelve times twelve is **144**.", 9, 61),
  whole("ollama.sse", 'Why did the owl say "hoo"? <b>Ha</b>', 31, 11),
  whole("ollama-0.1.sse", "Old llama"),
  whole("vllm.sse", "你好，我是通义千问。🙂", 12, 18),
  whole("litellm.sse", "Grüße aus Köln 🎉!", 20, 9),
  whole("llama-cpp-python.sse", "Carriage returns are fine."),
  whole("llama-cpp.sse", "One, two, three.", 10, 8),
  whole("spring-gateway.sse", "No space"),
  whole("mistral.sse", "Bonjour !", 5, 4),
  whole("gemini.sse", "Hi there"),
  whole("groq.sse", "Fast tokens", 38, 3),
  cached("deepseek.sse", "Deep water.", 1042, 4, 1024),
  cached("moonshot.sse", "Half moon.", 280, 5, 256),
  whole("anthropic.sse", "Owls are quiet.", 21, 9),
  whole("azure-filtered.sse", "First", 14, 3),
  counted("openai-reasoning.sse", "Thought over.", {
    inputTokens: 1500,
    outputTokens: 202,
    cacheWriteTokens: 1408,
    reasoningTokens: 192,
  }),
  counted("deepseek-reasoning.sse", "It is.", { inputTokens: 12, outputTokens: 40, reasoningTokens: 36 }),
  whole("ollama-reasoning.sse", "Hoo!", 11, 30),
  whole("not-streamed.json", "All at once.", 3, 4),
  broken("openrouter-error.sse", "Half of it", /Provider disconnected/),
  broken("litellm-error.sse", "So far", /connection lost/),
  broken("openrouter-error-first.sse", "", /Provider returned error/),
  broken("vllm-error.sse", "", /maximum context length/),
  broken("error-200.json", "", /No auth credentials/),
  broken("google-error.json", "", /overloaded/),
  broken("page.html", "", /HTML/),
  // Thoughts open the content itself.
  whole("llama-cpp-think.sse", "Hello! A <think> is text here.", 11, 30),
  whole("vllm-thinking.sse", "你好。", 12, 18),
];

export interface ResponsesDialect extends Dialect {
  finishReason: string | null;
  /** Of thoughts and comments in the stream; 1 for each that is not shown. */
  reasoningBytes: number;
}

function response(dialect: Dialect, finishReason: string | null = "stop", reasoningBytes = 0): ResponsesDialect {
  return { ...dialect, finishReason, reasoningBytes };
}

/** Streams of the Responses API. */
export const responsesDialects: readonly ResponsesDialect[] = [
  response(whole("responses-openai.sse", 'Hello! Café au lait – "quoted"\nEmoji: 👋 done.', 23, 19)),
  response(
    counted("responses-openai-reasoning.sse", "Take the second.", {
      inputTokens: 2101,
      outputTokens: 212,
      cachedTokens: 1024,
      cacheWriteTokens: 896,
      reasoningTokens: 192,
    }),
    "stop",
    66,
  ),
  response(
    counted("responses-openai-length.sse", "", { inputTokens: 31, outputTokens: 2048, reasoningTokens: 2048 }),
    "length",
    1,
  ),
  response(whole("responses-openai-filter.sse", "The first step", 31, 6), "content_filter"),
  response(whole("responses-openai-refusal.sse", "I'm sorry, I can't help with that.", 18, 11)),
  response(broken("responses-openai-failed.sse", "So far", /error processing your request/), null),
  response(broken("responses-openai-rate-limit.sse", "", /Rate limit reached/), null),
  response(broken("responses-flat-error.sse", "Half of it", /exceeded your current quota/), null),
  response(
    counted("responses-azure.sse", "The capital is Paris.", { inputTokens: 14, outputTokens: 70, reasoningTokens: 64 }),
    "stop",
    1,
  ),
  response(
    counted("responses-openrouter.sse", "It is **144**.", { inputTokens: 9, outputTokens: 61, reasoningTokens: 40 }),
    "stop",
    16,
  ),
  response(whole("responses-litellm.sse", "Grüße aus Köln 🎉!", 20, 9)),
  response(
    counted("responses-vllm.sse", "你好，我是。🙂", { inputTokens: 12, outputTokens: 18, reasoningTokens: 9 }),
    "stop",
    16,
  ),
  response(whole("responses-no-deltas.sse", "All of it. And more.", 3, 4)),
  response(whole("responses-only-end.sse", "At the end.", 3, 4), "stop", 4),
  response(whole("responses-gateway.sse", "ok")),
  response(
    counted("responses-not-streamed.json", "All at once.", { inputTokens: 3, outputTokens: 14, reasoningTokens: 10 }),
    "stop",
    1,
  ),
];

export function readFixture(file: string): Buffer {
  return readFileSync(join(import.meta.dir, "../fixtures/llm", file));
}

/** The recorded wire of each vendor, and the expected result. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface Dialect {
  /** In `test/fixtures/llm`. */
  file: string;
  contentType: string;
  text: string;
  usage: { inputTokens: number; outputTokens: number; cachedTokens?: number } | null;
  isComplete: boolean;
  /** The private reason; null if there is none. */
  failure: RegExp | null;
}

function whole(file: string, text: string, inputTokens?: number, outputTokens?: number): Dialect {
  const usage = inputTokens === undefined || outputTokens === undefined ? null : { inputTokens, outputTokens };
  return { file, contentType: contentTypeOf(file), text, usage, isComplete: true, failure: null };
}

/** Vendors count cached tokens in different places. */
function cached(file: string, text: string, inputTokens: number, outputTokens: number, cachedTokens: number): Dialect {
  return { ...whole(file, text), usage: { inputTokens, outputTokens, cachedTokens } };
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
  whole("not-streamed.json", "All at once.", 3, 4),
  broken("openrouter-error.sse", "Half of it", /Provider disconnected/),
  broken("litellm-error.sse", "So far", /connection lost/),
  broken("openrouter-error-first.sse", "", /Provider returned error/),
  broken("vllm-error.sse", "", /maximum context length/),
  broken("error-200.json", "", /No auth credentials/),
  broken("google-error.json", "", /overloaded/),
  broken("page.html", "", /HTML/),
];

export function readFixture(file: string): Buffer {
  return readFileSync(join(import.meta.dir, "../fixtures/llm", file));
}

/** Interprets one object of a chat-completions stream, from any vendor. */
import { isJsonObject } from "../../domain/json.ts";
import type { CountedTokens } from "../../domain/usage.ts";
import { ChatCalls } from "./chat-calls.ts";
import type { EventReader, EventReading } from "./wire.ts";

type Fields = Record<string, unknown>;

/** Every event stands for itself, but for those of a request with tools. */
export const chatReader: EventReader = { read: (value) => readChunk(value, null) };

export function createChatReader(round?: number): EventReader {
  if (round === undefined) return chatReader;
  const asked = new ChatCalls(round);
  return { asked, read: (value) => readChunk(value, asked) };
}

/** Also for a whole completion, which has `message` where a stream has `delta`. */
function readChunk(value: unknown, asked: ChatCalls | null): EventReading | null {
  if (!isJsonObject(value)) return null;
  const choice = Array.isArray(value.choices) && isJsonObject(value.choices[0]) ? value.choices[0] : null;
  const finishReason =
    typeof choice?.finish_reason === "string" && choice.finish_reason !== "" ? choice.finish_reason : null;
  const delta = isJsonObject(choice?.delta) ? choice.delta : isJsonObject(choice?.message) ? choice.message : null;
  if (asked !== null && delta !== null) asked.take(delta);
  return {
    text: delta === null ? "" : readText(delta),
    reasoningBytes: delta === null ? 0 : countReasoning(delta),
    finishReason,
    // Moonshot counts in the choice that ends the reply.
    usage: readUsage(value.usage) ?? readUsage(choice?.usage),
    error: readError(value, choice, finishReason),
    isLast: false,
  };
}

function readText({ content, refusal }: Fields): string {
  let text = "";
  if (typeof content === "string") text = content;
  else if (Array.isArray(content)) {
    // Mistral's reasoning models send parts; those of type `thinking` are not the reply.
    for (const part of content)
      if (isJsonObject(part) && part.type === "text" && typeof part.text === "string") text += part.text;
  }
  // A model that declines gives the reason here, and leaves the content null.
  return text === "" && typeof refusal === "string" ? refusal : text;
}

/** Vendors have several names for thoughts; who sends two of them sends the same twice. */
function countReasoning({ reasoning_content: own, reasoning, reasoning_details: details, content }: Fields): number {
  if (typeof own === "string" && own !== "") return Buffer.byteLength(own);
  if (typeof reasoning === "string" && reasoning !== "") return Buffer.byteLength(reasoning);
  if (Array.isArray(details) && details.length > 0) return countParts(details);
  // Mistral's, which have parts of their own.
  return Array.isArray(content)
    ? countParts(content.filter((part) => isJsonObject(part) && part.type === "thinking"))
    : 0;
}

/** At least 1: some are encrypted, and a model that thinks in secret thinks all the same. */
function countParts(parts: readonly unknown[]): number {
  let bytes = 0;
  for (const part of parts) {
    if (!isJsonObject(part)) continue;
    const { text, summary, thinking } = part;
    const inner = Array.isArray(thinking) ? countParts(thinking) : 0;
    const said = [text, summary, thinking].find((one) => typeof one === "string");
    bytes += Math.max(1, inner + (typeof said === "string" ? Buffer.byteLength(said) : 0));
  }
  return bytes;
}

function readUsage(usage: unknown): CountedTokens | null {
  if (!isJsonObject(usage)) return null;
  const { prompt_tokens: inputTokens, completion_tokens: outputTokens, prompt_tokens_details: details } = usage;
  if (!isCount(inputTokens) || !isCount(outputTokens)) return null;
  // DeepSeek counts them under a name of its own, Moonshot beside the other counts; both as a part of the input.
  const counts = [
    isJsonObject(details) ? details.cached_tokens : null,
    usage.prompt_cache_hit_tokens,
    usage.cached_tokens,
  ];
  const cached = Math.max(0, ...counts.filter(isCount));
  const uncached = inputTokens - Math.min(cached, inputTokens);
  const written = isJsonObject(details) ? details.cache_write_tokens : null;
  const { completion_tokens_details: outputDetails } = usage;
  const reasoned = isJsonObject(outputDetails) ? outputDetails.reasoning_tokens : null;
  return {
    inputTokens,
    outputTokens,
    cachedTokens: inputTokens - uncached,
    cacheWriteTokens: isCount(written) ? Math.min(written, uncached) : 0,
    reasoningTokens: isCount(reasoned) ? Math.min(reasoned, outputTokens) : 0,
  };
}

function readError(value: Fields, choice: Fields | null, finishReason: string | null): EventReading["error"] {
  // OpenRouter puts it beside or into the choice and closes with the reason "error"; older vLLM sends it bare.
  const error = value.error ?? choice?.error ?? (value.object === "error" ? value : null);
  if (error === null || error === undefined) {
    return finishReason === "error" ? { message: "the reply ended with finish_reason error", status: null } : null;
  }
  if (!isJsonObject(error)) return { message: String(error), status: null };
  const code = error.code ?? error.status;
  const message = typeof error.message === "string" ? error.message : JSON.stringify(error);
  if (code === "content_filter") return { message, status: 400, kind: "filtered" };
  if (code === "context_length_exceeded") return { message, status: 400 };
  const status = typeof code === "number" || typeof code === "string" ? Number(code) : Number.NaN;
  return { message, status: Number.isInteger(status) && status >= 100 && status < 600 ? status : null };
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

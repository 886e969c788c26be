/** Interprets one object of a chat-completions stream, whichever vendor wrote it. */
import type { CountedTokens } from "../domain/usage.ts";

/** A chunk, an error or a whole completion; `text` may be empty. */
export interface ChunkReading {
  text: string;
  /** Null until the reply ends. */
  finishReason: string | null;
  usage: CountedTokens | null;
  /** What the provider reports instead of a reply. */
  error: { message: string; status: number | null } | null;
}

type Fields = Record<string, unknown>;

/** Parses bytes 0 to 255 as UTF-8 JSON; undefined if it is not JSON. */
export function parseJson(bytes: string): unknown {
  try {
    return JSON.parse(Buffer.from(bytes, "latin1").toString("utf8"));
  } catch {
    return undefined;
  }
}

/** Null for JSON that is not an object. Unknown fields, such as reasoning, are not for the visitor. */
export function readChunk(value: unknown): ChunkReading | null {
  if (!isFields(value)) return null;
  const choice = Array.isArray(value.choices) && isFields(value.choices[0]) ? value.choices[0] : null;
  const finishReason =
    typeof choice?.finish_reason === "string" && choice.finish_reason !== "" ? choice.finish_reason : null;
  return {
    // A provider that ignores `stream: true` sends `message` where a stream has `delta`.
    text: readText(isFields(choice?.delta) ? choice.delta : choice?.message),
    finishReason,
    // Moonshot counts in the choice that ends the reply.
    usage: readUsage(value.usage) ?? readUsage(choice?.usage),
    error: readError(value, choice, finishReason),
  };
}

function readText(delta: unknown): string {
  if (!isFields(delta)) return "";
  const { content, refusal } = delta;
  let text = "";
  if (typeof content === "string") text = content;
  else if (Array.isArray(content)) {
    // Mistral's reasoning models send parts; those of type `thinking` are not the reply.
    for (const part of content)
      if (isFields(part) && part.type === "text" && typeof part.text === "string") text += part.text;
  }
  // A model that declines gives the reason here, and leaves the content null.
  return text === "" && typeof refusal === "string" ? refusal : text;
}

function readUsage(usage: unknown): ChunkReading["usage"] {
  if (!isFields(usage)) return null;
  const { prompt_tokens: inputTokens, completion_tokens: outputTokens, prompt_tokens_details: details } = usage;
  if (!isCount(inputTokens) || !isCount(outputTokens)) return null;
  // DeepSeek counts them under a name of its own, Moonshot beside the other counts; both as a part of the input.
  const counts = [isFields(details) ? details.cached_tokens : null, usage.prompt_cache_hit_tokens, usage.cached_tokens];
  const cached = Math.max(0, ...counts.filter(isCount));
  const uncached = inputTokens - Math.min(cached, inputTokens);
  const written = isFields(details) ? details.cache_write_tokens : null;
  const { completion_tokens_details: outputDetails } = usage;
  const reasoned = isFields(outputDetails) ? outputDetails.reasoning_tokens : null;
  return {
    inputTokens,
    outputTokens,
    cachedTokens: inputTokens - uncached,
    cacheWriteTokens: isCount(written) ? Math.min(written, uncached) : 0,
    reasoningTokens: isCount(reasoned) ? Math.min(reasoned, outputTokens) : 0,
  };
}

function readError(value: Fields, choice: Fields | null, finishReason: string | null): ChunkReading["error"] {
  // OpenRouter puts it beside or into the choice and closes with the reason "error"; older vLLM sends it bare.
  const error = value.error ?? choice?.error ?? (value.object === "error" ? value : null);
  if (error === null || error === undefined) {
    return finishReason === "error" ? { message: "the reply ended with finish_reason error", status: null } : null;
  }
  if (!isFields(error)) return { message: String(error), status: null };
  const code = error.code ?? error.status;
  const status = typeof code === "number" || typeof code === "string" ? Number(code) : Number.NaN;
  const message = typeof error.message === "string" ? error.message : JSON.stringify(error);
  return { message, status: Number.isInteger(status) && status >= 100 && status < 600 ? status : null };
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

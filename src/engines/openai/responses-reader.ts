/** Interprets the events of a Responses stream, from any vendor. */
import { isJsonObject } from "../../domain/json.ts";
import type { CountedTokens } from "../../domain/usage.ts";
import { ResponseItems } from "./response-items.ts";
import { readResponseError, readUnfinished } from "./responses-error.ts";
import type { EventReader, EventReading } from "./wire.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What brings text, from the smallest to the whole; servers that send smaller ones repeat them in the larger. */
type TextSource = "delta" | "part" | "item" | "response";

const nothing: EventReading = {
  text: "",
  reasoningBytes: 0,
  finishReason: null,
  usage: null,
  error: null,
  isLast: false,
};
/** They repeat the whole request, instructions and tools included. */
const announcements = new Set(["response.created", "response.in_progress", "response.queued"]);
/** They repeat what came in deltas. */
const repetitions = new Set([
  "response.output_text.done",
  "response.refusal.done",
  "response.content_part.done",
  "response.output_item.done",
]);
const unfinished = new Set(["incomplete", "failed", "cancelled"]);
const typeInFront = /^\s*\{\s*"type"\s*:\s*"([\w.]+)"/;
const noIndex = Symbol("no item");

export function createResponsesReader(round?: number): EventReader {
  return new ResponsesReader(round === undefined ? undefined : new ResponseItems(round));
}

class ResponsesReader implements EventReader {
  /**
   * The last event repeats instructions (a body of 1 MiB at most) and the reply; servers that escape what is not ASCII
   * need three times the bytes.
   */
  readonly maxLineBytes = 8 * 1024 * 1024;
  /** Gateways add it, also where the response broke off before. */
  readonly ignoresDoneMark = true;
  /** The first kind of event that brings text is the one that counts, so that each text is read once. */
  #source: TextSource | null = null;
  /** The `output_index` of the message at hand if it is no answer; items come one after the other. */
  #hiddenIndex: unknown = noIndex;
  #hasThought = false;

  constructor(readonly asked?: ResponseItems) {}

  skips(eventName: string, lineStart: string): boolean {
    const type = eventName === "" ? typeInFront.exec(lineStart)?.[1] : eventName;
    if (type === undefined) return false;
    if (type === "response.output_item.done" && this.asked !== undefined) return false;
    return announcements.has(type) || (this.#source === "delta" && repetitions.has(type));
  }

  read(value: unknown, eventName: string): EventReading | null {
    if (!isJsonObject(value)) return null;
    const type = typeof value.type === "string" ? value.type : eventName;
    switch (type) {
      case "response.output_text.delta":
      case "response.refusal.delta":
        return this.#takePart("delta", value.delta, value);
      case "response.output_text.done":
        return this.#takePart("part", value.text, value);
      case "response.refusal.done":
        return this.#takePart("part", value.refusal, value);
      case "response.output_item.added":
        return this.#beginItem(value);
      case "response.function_call_arguments.delta":
      case "response.function_call_arguments.done":
        this.asked?.takeArguments(value);
        return nothing;
      case "response.output_item.done":
        this.asked?.take(value.item);
        return this.#takeMessages("item", [value.item]);
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
        return this.#end(isJsonObject(value.response) ? value.response : {}, type.slice("response.".length));
    }
    if (eventName === "error" || type === "error" || value.object === "error") return fail(value);
    if (type.startsWith("response.reasoning") && type.endsWith(".delta") && typeof value.delta === "string")
      return this.#think(Buffer.byteLength(value.delta));
    // A server that ignores `stream: true`; and one that answers with an error all the same.
    if (value.object === "response") return this.#end(value, "");
    return type === "" && value.error !== null && value.error !== undefined ? fail(value) : nothing;
  }

  /** A model that thinks in silence shows that it does so here. */
  #beginItem({ item, output_index: index }: Fields): EventReading {
    if (!isJsonObject(item)) return nothing;
    this.asked?.begin(item, index);
    if (item.type === "message") this.#hiddenIndex = isAnswer(item) ? noIndex : index;
    return item.type === "reasoning" ? this.#think(1) : nothing;
  }

  #think(bytes: number): EventReading {
    this.#hasThought = true;
    return { ...nothing, reasoningBytes: bytes };
  }

  #takePart(source: TextSource, text: unknown, { output_index: index }: Fields): EventReading {
    if (typeof text !== "string" || text === "" || !this.#counts(source)) return nothing;
    if (index === this.#hiddenIndex) return { ...nothing, reasoningBytes: Buffer.byteLength(text) };
    return { text, reasoningBytes: 0, finishReason: null, usage: null, error: null, isLast: false };
  }

  #takeMessages(source: TextSource, items: unknown): EventReading {
    let text = "";
    let reasoningBytes = 0;
    for (const item of Array.isArray(items) ? items : []) {
      if (!isJsonObject(item)) continue;
      const said = item.type === "message" ? readMessage(item) : "";
      if (said === "" || !this.#counts(source)) continue;
      if (isAnswer(item)) text += said;
      else reasoningBytes += Buffer.byteLength(said);
    }
    return { ...nothing, text, reasoningBytes };
  }

  #counts(source: TextSource): boolean {
    this.#source ??= source;
    return this.#source === source;
  }

  /** `event`: as what it ended; "" for a whole document, which has only the status in it. */
  #end(response: Fields, event: string): EventReading {
    const status = toStatus(event, response.status);
    const { output } = response;
    this.asked?.takeOutput(output);
    const { text, reasoningBytes } = this.#takeMessages("response", output);
    const isThought = !this.#hasThought && Array.isArray(output) && output.some((item) => item?.type === "reasoning");
    const usage = readUsage(response.usage);
    const { finishReason, error } =
      status === "completed" ? { finishReason: "stop", error: null } : readUnfinished(status, response);
    return { text, reasoningBytes: reasoningBytes + (isThought ? 1 : 0), finishReason, usage, error, isLast: true };
  }
}

/** Some call an event `completed` no matter how the response ended, and some leave its status as it was before. */
function toStatus(event: string, status: unknown): string {
  if (event === "") return typeof status === "string" ? status : "completed";
  return event === "completed" && typeof status === "string" && unfinished.has(status) ? status : event;
}

function fail(value: Fields): EventReading {
  return { ...nothing, error: readResponseError(value), isLast: true };
}

/** Newer models comment on what they do in messages of their own. */
function isAnswer({ phase }: Fields): boolean {
  return typeof phase !== "string" || phase === "final_answer";
}

function readMessage({ content }: Fields): string {
  if (typeof content === "string") return content;
  let text = "";
  for (const part of Array.isArray(content) ? content : []) {
    if (!isJsonObject(part)) continue;
    if (part.type === "output_text" && typeof part.text === "string") text += part.text;
    else if (part.type === "refusal" && typeof part.refusal === "string") text += part.refusal;
  }
  return text;
}

function readUsage(usage: unknown): CountedTokens | null {
  if (!isJsonObject(usage)) return null;
  const { input_tokens: inputTokens, output_tokens: outputTokens } = usage;
  if (!isCount(inputTokens) || !isCount(outputTokens)) return null;
  const cachedTokens = Math.min(readCount(usage.input_tokens_details, "cached_tokens"), inputTokens);
  const written = readCount(usage.input_tokens_details, "cache_write_tokens");
  const reasoned = readCount(usage.output_tokens_details, "reasoning_tokens");
  return {
    inputTokens,
    outputTokens,
    cachedTokens,
    cacheWriteTokens: Math.min(written, inputTokens - cachedTokens),
    reasoningTokens: Math.min(reasoned, outputTokens),
  };
}

function readCount(details: unknown, name: string): number {
  const count = isJsonObject(details) ? details[name] : 0;
  return isCount(count) ? count : 0;
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

/** Streams a chat completion in the chunks that OpenAI's clients read. */
import type { TurnResult } from "../../core/turns/turn-start.ts";
import { AppError } from "../../domain/errors.ts";
import type { StreamErrorCode } from "../../domain/stream-end.ts";
import type { HeartbeatTicker } from "../../http/heartbeats.ts";
import { toOpenAiError } from "../../http/openai-error.ts";
import { EventStream } from "../../http/sse.ts";
import { type CompletionHead, toFinishReason, toWireUsage } from "./completion.ts";

/** Why a completion has no end, for its caller. */
export function toCompletionError(code: StreamErrorCode): AppError {
  if (code === "too_long") return new AppError("upstream_error", "The reply is too long.");
  if (code === "upstream_error") return new AppError("upstream_error", "The model broke off. Try again.");
  return new AppError("unavailable", "The reply was ended. Try again shortly.");
}

export interface CompletionStreamOptions {
  readonly head: CompletionHead;
  /** Whether a chunk of usage comes before the end. */
  readonly includesUsage: boolean;
  /** The stored turn, once it is. */
  getResult(): TurnResult | null;
}

export class CompletionStream extends EventStream {
  readonly #options: CompletionStreamOptions;
  /** Up to `"choices":`, and what follows the choices. */
  readonly #start: string;
  readonly #end: string;
  #hasText = false;

  constructor(signal: AbortSignal, heartbeats: HeartbeatTicker, options: CompletionStreamOptions) {
    super(signal, heartbeats);
    const { id, created, model } = options.head;
    const head = JSON.stringify({ id, object: "chat.completion.chunk", created, model });
    this.#options = options;
    this.#start = `data: ${head.slice(0, -1)},"choices":`;
    this.#end = options.includesUsage ? ',"usage":null}\n\n' : "}\n\n";
  }

  protected override frameText(deltas: readonly string[]): string {
    let frames = "";
    if (!this.#hasText) frames += this.#frameDelta('{"role":"assistant","content":"","refusal":null}', "null");
    this.#hasText = true;
    for (const delta of deltas) frames += this.#frameDelta(`{"content":${JSON.stringify(delta)}}`, "null");
    return frames;
  }

  protected override frameDone(): string {
    const result = this.#options.getResult();
    const last = this.#frameDelta("{}", JSON.stringify(toFinishReason(result?.finishReason ?? null)));
    return `${last}${this.#frameUsage(result)}data: [DONE]\n\n`;
  }

  protected override frameError(code: StreamErrorCode): string {
    return `data: ${JSON.stringify({ error: toOpenAiError(toCompletionError(code)) })}\n\n`;
  }

  #frameDelta(delta: string, finishReason: string): string {
    const choice = `{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${finishReason}}`;
    return `${this.#start}[${choice}]${this.#end}`;
  }

  #frameUsage(result: TurnResult | null): string {
    if (!this.#options.includesUsage || result === null) return "";
    return `${this.#start}[],"usage":${JSON.stringify(toWireUsage(result.usage))}}\n\n`;
  }
}

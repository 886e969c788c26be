/** Bounds what long prompts hold in memory while they are answered: a caller may send a megabyte, hundreds of times. */
import { textOf } from "../../domain/conversation.ts";
import { AppError } from "../../domain/errors.ts";
import type { GivenPrompt } from "./turn-start.ts";

export interface PromptMemoryLimits {
  readonly bytes: number;
  readonly bytesOfOne: number;
}

const mebibyte = 1024 * 1024;
const defaultLimits: PromptMemoryLimits = { bytes: 128 * mebibyte, bytesOfOne: 64 * mebibyte };
/** A message beside its text: some objects, so that a million empty ones are not free. */
const messageBytes = 200;

export class PromptMemory {
  #bytes = 0;
  /** By account, of those that hold any. */
  readonly #bytesByOwner = new Map<string, number>();

  constructor(private readonly limits = defaultLimits) {}

  /** Returns what lets it go, to be called once. Throws `rate_limited` if there is no room. */
  hold(owner: string, prompt: GivenPrompt): () => void {
    const bytes = sizeOf(prompt);
    const own = this.#bytesByOwner.get(owner) ?? 0;
    if (own + bytes > this.limits.bytesOfOne || this.#bytes + bytes > this.limits.bytes) {
      throw new AppError("rate_limited", "Too many long prompts are being answered. Try again shortly.", {
        retryAfterSeconds: 1,
      });
    }
    this.#add(owner, bytes);
    return () => this.#add(owner, -bytes);
  }

  #add(owner: string, bytes: number): void {
    this.#bytes += bytes;
    const own = (this.#bytesByOwner.get(owner) ?? 0) + bytes;
    if (own === 0) this.#bytesByOwner.delete(owner);
    else this.#bytesByOwner.set(owner, own);
  }
}

/** At two bytes a character, which most texts need for a while: once as text, and once on their way to the provider. */
function sizeOf({ instructions, messages, stop }: GivenPrompt): number {
  const texts = [...instructions, ...stop, ...messages.map(textOf)];
  return texts.reduce((sum, text) => sum + text.length * 2 + messageBytes, 0);
}

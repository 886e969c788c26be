/** The data lines of an event whose first is not JSON by itself: kept until its end, and parsed once. */
import { parseJson } from "./openai-chunk.ts";
import type { StreamLimits } from "./openai-stream-limits.ts";

export class EventLines {
  readonly #limits: StreamLimits;
  #lines: string[] = [];
  #bytes = 0;

  constructor(limits: StreamLimits) {
    this.#limits = limits;
  }

  get isEmpty(): boolean {
    return this.#lines.length === 0;
  }

  /** Whether there was room for it. */
  add(line: string): boolean {
    this.#lines.push(line);
    this.#bytes += line.length + 1;
    return this.#lines.length <= this.#limits.maxEventLines && this.#bytes <= this.#limits.maxLineBytes;
  }

  /** What they say together, undefined where that is not JSON; empty from then on. */
  take(): unknown {
    const value = parseJson(this.#lines.join("\n"));
    this.#lines = [];
    this.#bytes = 0;
    return value;
  }
}

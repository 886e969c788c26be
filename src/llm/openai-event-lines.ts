/** The data lines of an event whose first line is not JSON by itself: collected until its end, and parsed once. */
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

  /** Returns whether there was room for it. */
  add(line: string): boolean {
    this.#lines.push(line);
    this.#bytes += line.length + 1;
    return this.#lines.length <= this.#limits.maxEventLines && this.#bytes <= this.#limits.maxLineBytes;
  }

  /** The parsed lines, undefined if they are not JSON; empties the collection. */
  take(): unknown {
    const value = parseJson(this.#lines.join("\n"));
    this.#lines = [];
    this.#bytes = 0;
    return value;
  }
}

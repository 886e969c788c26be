/** The stream of a client that comes back: each event carries how much of the reply's text the client has after it. */

import type { NamedEvent } from "../core/turns/events.ts";
import type { HeartbeatTicker } from "./heartbeats.ts";
import { EventStream } from "./sse.ts";

export class NumberedStream extends EventStream {
  /** UTF-16 code units. */
  #offset: number;

  constructor(signal: AbortSignal, heartbeats: HeartbeatTicker, offset: number, hasEvents = false) {
    super(signal, heartbeats, hasEvents);
    this.#offset = offset;
  }

  protected override frameText(deltas: readonly string[]): string {
    let frames = "";
    for (const delta of deltas) {
      this.#offset += delta.length;
      frames += this.#number(super.frameText([delta]));
    }
    return frames;
  }

  protected override frameEvent(event: NamedEvent): string {
    return this.#number(super.frameEvent(event));
  }

  protected override frameDone(): string {
    return this.#number(super.frameDone());
  }

  #number(frame: string): string {
    return `id: ${this.#offset}\n${frame}`;
  }
}

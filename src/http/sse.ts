/** The bytes of a chat stream: the only file that writes Server-Sent Events (spec 4.2). */

import type { HeartbeatTicker } from "./heartbeats.ts";
import { type HeldStream, type WritePacer, writeGapMs, writePacer } from "./write-pacer.ts";

export const sseHeaders = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
} as const;

const doneFrame = "data: [DONE]\n\n";
const pingFrame = ": ping\n\n";

/** Why a stream ends without its terminator, in its last comment. */
export type StreamErrorCode = "upstream_error" | "unavailable" | "too_long";

function errorFrame(code: StreamErrorCode): string {
  return `: error ${code}\n\n`;
}

/** Text that JSON.stringify would only put quotes around; nearly every delta is. */
const isPlainAscii = /^[ !#-[\]-~]*$/;

const frameStart = 'data: {"text":"';
const frameEnd = '"}\n\n';
const frameBetween = frameEnd + frameStart;

/** One event for each delta, in one piece: they leave in one write. `whole`: the deltas as one text. */
export function frameDeltas(deltas: readonly string[], whole = deltas.join("")): string {
  if (isPlainAscii.test(whole)) {
    return frameStart + (deltas.length === 1 ? whole : deltas.join(frameBetween)) + frameEnd;
  }
  let frames = "";
  for (const delta of deltas) {
    frames += isPlainAscii.test(delta) ? frameStart + delta + frameEnd : `data: {"text":${JSON.stringify(delta)}}\n\n`;
  }
  return frames;
}

/** So much is sent at once: the gap is for tokens, and nothing here is to grow. */
const maxHeldUnits = 16 * 1024;

/** How a stream ended: whole, broken off with a comment, or without a word because the visitor has gone. */
export type StreamOutcome = "complete" | "broken" | "left";

/**
 * One reply on its way to one visitor. Everything written before Bun starts to read is kept and leaves first.
 *
 * Uses Bun's direct stream: a default `ReadableStream` costs a promise and a copy for each chunk. `write` reports
 * back-pressure, which the provider must obey, since nothing here is bounded otherwise.
 */
export class EventStream implements HeldStream {
  readonly body: ReadableStream<Uint8Array>;
  /** Null while it is open. */
  outcome: StreamOutcome | null = null;
  /** Monotonic; null before the first text. */
  firstTextAtMs: number | null = null;
  /** Called once, while the last bytes are still to be written. */
  onClosing: (() => void) | null = null;
  /** Called once, at the end. */
  onEnd: (() => void) | null = null;
  #controller: ReadableStreamDirectController | null = null;
  #early = "";
  /** Since the last write, which is less than a gap ago, or has not drained. */
  #held = "";
  #finishPull: () => void = () => {};
  #lastWriteMs: number;
  /** The socket takes nothing more until this resolves. */
  #stalled: Promise<void> | null = null;
  #whenGone: Promise<void> | null = null;
  readonly #signal: AbortSignal;
  readonly #heartbeats: HeartbeatTicker;
  readonly #pacer: WritePacer;

  /** `signal` is the request's: it fires when the visitor has gone. */
  constructor(signal: AbortSignal, heartbeats: HeartbeatTicker, pacer = writePacer) {
    this.#signal = signal;
    this.#heartbeats = heartbeats;
    this.#pacer = pacer;
    this.#lastWriteMs = pacer.nowMs();
    this.body = new ReadableStream<Uint8Array>({
      type: "direct",
      pull: (controller) => this.#open(controller),
      cancel: () => this.#end("left", ""),
    });
    heartbeats.add(this);
  }

  /** Sends the deltas within the gap; a promise means "stop reading the provider until it resolves". */
  write(deltas: readonly string[], whole = deltas.join("")): Promise<void> | undefined {
    const sent = this.#send(frameDeltas(deltas, whole));
    this.firstTextAtMs ??= this.#pacer.nowMs();
    return sent;
  }

  /** Opens the stream with a comment, so that proxies and browsers see life before the first text. */
  ping(): void {
    this.#send(pingFrame);
  }

  /** A line that clients pass over; `text` has no line break. */
  comment(text: string): void {
    this.#send(`: ${text}\n\n`);
  }

  pingIfQuietSince(sinceMs: number): void {
    // A stalled reader gets no pings: they would keep its connection from running into the idle limit.
    if (this.#controller !== null && this.#stalled === null && this.#lastWriteMs <= sinceMs) this.ping();
  }

  /** The reply is whole and kept. */
  done(): void {
    this.#end("complete", doneFrame);
  }

  /** The reply broke off: no terminator, and a comment for whoever reads the wire. */
  fail(code: StreamErrorCode): void {
    this.#end("broken", errorFrame(code));
  }

  /** The connection is about to be cut from our side, which ends the stream: says why. */
  interrupt(): void {
    if (this.#controller !== null) this.#send(errorFrame("unavailable"));
  }

  /** Ends without a word: the visitor has gone. */
  drop(): void {
    this.#end("left", "");
  }

  #open(controller: ReadableStreamDirectController): Promise<void> | undefined {
    this.#controller = controller;
    if (this.#early !== "") {
      controller.write(this.#early);
      this.#early = "";
      controller.flush();
    }
    if (this.outcome !== null) {
      controller.close();
      return undefined;
    }
    return new Promise((resolve) => {
      this.#finishPull = resolve;
    });
  }

  #send(frames: string): Promise<void> | undefined {
    if (this.outcome !== null) return undefined;
    if (this.#controller === null) {
      this.#lastWriteMs = this.#pacer.nowMs();
      this.#early += frames;
      return undefined;
    }
    if (this.#held === "" && this.#stalled === null) {
      const nowMs = this.#pacer.nowMs();
      if (nowMs - this.#lastWriteMs >= writeGapMs) return this.#write(this.#controller, frames, nowMs);
      this.#pacer.hold(this);
    }
    this.#held += frames;
    if (this.#held.length >= maxHeldUnits) this.release();
    return this.#stalled ?? undefined;
  }

  release(): void {
    if (this.#held === "" || this.#stalled !== null || this.#controller === null) return;
    if (this.outcome !== null || this.#signal.aborted) return;
    const held = this.#held;
    this.#held = "";
    void this.#write(this.#controller, held, this.#pacer.nowMs());
  }

  #write(controller: ReadableStreamDirectController, frames: string, nowMs: number): Promise<void> | undefined {
    this.#lastWriteMs = nowMs;
    const written = controller.write(frames);
    controller.flush();
    if (typeof written === "number") return undefined;
    this.#stalled = this.#drained(written).then(() => {
      this.#stalled = null;
      // In the pacer's own time, and as safe.
      if (this.#held !== "") this.#pacer.hold(this);
    });
    return this.#stalled;
  }

  /** A reader that stalls and then leaves never drains: its going ends the wait too. */
  #drained(written: Promise<number>): Promise<unknown> {
    this.#whenGone ??= new Promise((resolve) => {
      if (this.#signal.aborted) resolve();
      else this.#signal.addEventListener("abort", () => resolve(), { once: true });
    });
    const settled = written.then(
      () => {},
      () => {},
    );
    return Promise.race([settled, this.#whenGone]);
  }

  #end(outcome: StreamOutcome, lastFrames: string): void {
    if (this.outcome !== null) return;
    this.outcome = outcome;
    this.#heartbeats.remove(this);
    this.onClosing?.();
    this.#close(lastFrames);
    this.onEnd?.();
  }

  #close(lastFrames: string): void {
    if (this.#controller === null) {
      this.#early += lastFrames;
      return;
    }
    const last = this.outcome === "left" ? "" : this.#held + lastFrames;
    this.#held = "";
    try {
      if (last !== "") this.#controller.write(last);
      this.#controller.close();
    } catch {
      // The connection broke between the last write and now: nobody is left to tell.
    }
    this.#finishPull();
  }
}

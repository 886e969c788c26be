/** Streams a reply to its visitor: its bytes (spec 4.2), when they are sent, and visitors who stall or leave. */
import type { FollowedTurn, NamedEvent, TurnEvent, TurnReader } from "../core/turns/events.ts";
import type { StreamErrorCode, StreamOutcome } from "../domain/stream-end.ts";
import { findPieceEnd } from "../lib/text-pieces.ts";
import { type HeartbeatTicker, idleSeconds } from "./heartbeats.ts";
import { frameNamedEvent } from "./named-events.ts";

/** Text that JSON.stringify would only put quotes around; nearly every delta is. */
const isPlainAscii = /^[ !#-[\]-~]*$/;

const frameStart = 'data: {"text":"';
const frameEnd = '"}\n\n';

/** One event for each delta, in one piece: they leave in one write. */
export function frameDeltas(deltas: readonly string[]): string {
  const whole = deltas.join("");
  if (isPlainAscii.test(whole)) {
    return frameStart + (deltas.length === 1 ? whole : deltas.join(frameEnd + frameStart)) + frameEnd;
  }
  let frames = "";
  for (const delta of deltas) {
    frames += isPlainAscii.test(delta) ? frameStart + delta + frameEnd : `data: {"text":${JSON.stringify(delta)}}\n\n`;
  }
  return frames;
}

/** Longer texts are written in pieces: Bun keeps the whole text if the socket does not take all of it. */
const maxPieceUnits = 32 * 1024;

/**
 * One reply to one visitor. Everything written before Bun starts to read is kept and sent first.
 *
 * Uses Bun's direct stream: a default `ReadableStream` costs a promise and a copy for each chunk. `take` reports
 * back-pressure, which the provider must obey: then at most the data of one read is held here.
 */
export class EventStream implements TurnReader, Bun.DirectUnderlyingSource<Uint8Array> {
  /** With `pull` and `cancel`, what Bun reads: no source beside it, which thousands would hold. */
  readonly type = "direct";
  readonly body: ReadableStream<Uint8Array>;
  /** False for one that brings no reply: it counts among no replies. */
  readonly isReply: boolean = true;
  /** Null while the stream is open. */
  outcome: StreamOutcome | null = null;
  /** Monotonic; null before the first text. */
  firstTextAtMs: number | null = null;
  /** What is sent instead of frames; all of them as they are, if null. */
  seal: ((frames: string) => string) | null = null;
  /** Called once, when Bun reads and the socket has accepted what was written before. */
  onOpen: (() => void) | null = null;
  /** Its request's; released from the stream before the last bytes are written. */
  connection: { allowSilence(seconds: number): void } | null = null;
  /** Called once, before the last bytes are written. */
  onClosing: (() => void) | null = null;
  /** Called once, at the end. */
  onEnd: (() => void) | null = null;
  #controller: ReadableStreamDirectController | null = null;
  /** What the socket has not accepted; everything, before Bun reads. */
  #held = "";
  #finishPull: () => void = () => {};
  #lastWriteMs = performance.now();
  /** The socket accepts nothing more until this resolves. */
  #stalled: Promise<void> | null = null;
  /** Ends the wait for a socket whose reader stalled and then left: it never drains. */
  #whenGone: PromiseWithResolvers<void> | null = null;
  #turn: FollowedTurn | null = null;
  readonly #signal: AbortSignal;
  readonly #heartbeats: HeartbeatTicker;
  readonly #hasEvents: boolean;

  /** `signal` is the request's: it fires when the visitor has left. `hasEvents`: the client asked for named events. */
  constructor(signal: AbortSignal, heartbeats: HeartbeatTicker, hasEvents = false) {
    this.#signal = signal;
    this.#heartbeats = heartbeats;
    this.#hasEvents = hasEvents;
    this.body = new ReadableStream<Uint8Array>(this);
    heartbeats.add(this);
    signal.addEventListener("abort", this);
    if (signal.aborted) this.cancel();
  }

  /** Sends the turn's events to the visitor, and reports to the turn when the visitor has left. */
  follow(turn: FollowedTurn): void {
    this.#turn = turn;
    turn.attach(this);
    if (this.outcome !== null) turn.leave(this);
  }

  /** Sends the event; a returned promise means "stop reading the provider until it resolves". */
  take(event: TurnEvent): Promise<void> | undefined {
    if (event.type === "text") {
      this.firstTextAtMs ??= performance.now();
      return this.#send(this.frameText(event.deltas));
    }
    if (event.type === "waiting") this.comment("ping");
    else if (event.type !== "end") return this.#hasEvents ? this.#send(this.frameEvent(event)) : undefined;
    else if (event.outcome === "complete") this.#end("complete", this.frameDone());
    else if (event.outcome === "broken") this.#end("broken", this.frameError(event.code));
    else this.cancel();
    return undefined;
  }

  protected frameText(deltas: readonly string[]): string {
    return frameDeltas(deltas);
  }

  protected frameEvent(event: NamedEvent): string {
    return frameNamedEvent(event);
  }

  protected frameDone(): string {
    return "data: [DONE]\n\n";
  }

  /** No terminator, but a comment for people who read the raw stream. */
  protected frameError(code: StreamErrorCode): string {
    return `: error ${code}\n\n`;
  }

  /** The visitor's signal has fired. */
  handleEvent(): void {
    this.cancel();
  }

  /** A line that clients ignore; `text` has no line break. */
  comment(text: string): void {
    this.#send(`: ${text}\n\n`);
  }

  pingIfQuietSince(sinceMs: number): number {
    // Not of a stalled reader, whose connection is to reach the idle limit.
    if (this.#controller !== null && this.#stalled === null && this.#lastWriteMs <= sinceMs) this.comment("ping");
    return this.#lastWriteMs;
  }

  /** The server is about to cut the connection, which ends the stream: sends the reason. */
  interrupt(): void {
    if (this.#controller !== null) this.#send(this.frameError("unavailable"));
  }

  get heldUnits(): number {
    return this.#held.length;
  }

  /** Gives up the reader: drops what it did not accept. */
  dropHeld(): void {
    this.#held = "";
  }

  /** Ends for this reader alone. */
  cut(): void {
    this.#turn?.leave(this);
    this.#end("broken", this.frameError("unavailable"));
  }

  /** Ends silently: the visitor has left. */
  cancel(): void {
    this.#end("left", "");
  }

  /** Bun reads from now on. */
  pull(controller: ReadableStreamDirectController): Promise<void> | undefined {
    this.#controller = controller;
    if (this.outcome !== null) {
      if (this.#held !== "") controller.write(this.#held);
      controller.close();
      return undefined;
    }
    this.#release();
    if (this.#stalled === null) this.onOpen?.();
    else void this.#stalled.then(() => this.onOpen?.());
    return new Promise((resolve) => {
      this.#finishPull = resolve;
    });
  }

  #send(frames: string): Promise<void> | undefined {
    if (this.outcome !== null) return undefined;
    this.#held += this.seal?.(frames) ?? frames;
    this.#release();
    return this.#stalled ?? undefined;
  }

  #release(): void {
    if (this.#controller === null || this.#stalled !== null) return;
    const pending = this.#writeHeld(this.#controller);
    if (pending !== null) this.#stalled = this.#drain(this.#controller, pending);
  }

  /** Null if the socket accepts more, or is gone; otherwise resolves when it has accepted this. */
  #writeHeld(controller: ReadableStreamDirectController): Promise<number> | null {
    try {
      while (this.#held !== "") {
        const end = findPieceEnd(this.#held, maxPieceUnits);
        const piece = this.#held.slice(0, end);
        this.#held = this.#held.slice(end);
        this.#lastWriteMs = performance.now();
        const written = controller.write(piece);
        controller.flush();
        if (typeof written !== "number") return written;
      }
    } catch {
      // The connection has just broken, which its own signal reports.
    }
    return null;
  }

  /** Resolves when the socket has accepted everything held as well, or no one is left to accept it. */
  async #drain(controller: ReadableStreamDirectController, pending: Promise<number>): Promise<void> {
    for (let waiting: Promise<number> | null = pending; waiting !== null; ) {
      this.#whenGone ??= Promise.withResolvers();
      await Promise.race([waiting.catch(() => {}), this.#whenGone.promise]);
      waiting = this.outcome !== null ? null : this.#writeHeld(controller);
    }
    this.#stalled = null;
  }

  #end(outcome: StreamOutcome, lastFrames: string): void {
    if (this.outcome !== null) return;
    this.outcome = outcome;
    this.#heartbeats.remove(this);
    this.#signal.removeEventListener("abort", this);
    if (outcome === "left") {
      this.#whenGone?.resolve();
      this.#turn?.leave(this);
    }
    // The timeout would stay with the connection, which is kept for the visitor's next message: an idle connection, or
    // a slow request head on it, would be tolerated as long. After the end of the response it can no longer be changed.
    this.connection?.allowSilence(idleSeconds);
    this.onClosing?.();
    this.#close(this.seal?.(lastFrames) ?? lastFrames);
    this.onEnd?.();
  }

  #close(lastFrames: string): void {
    if (this.#controller === null) {
      this.#held += lastFrames;
      return;
    }
    const last = this.outcome === "left" ? "" : this.#held + lastFrames;
    this.#held = "";
    try {
      if (last !== "") this.#controller.write(last);
      this.#controller.close();
    } catch {
      // The connection broke between the last write and now: no one is left.
    }
    this.#finishPull();
  }
}

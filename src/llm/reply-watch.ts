/** The deadlines of one reply, on one timer that is not touched per read. */
import { ProviderFailure } from "./provider-failure.ts";

export interface ReplyDeadlines {
  /** From the call to the first text, all attempts and the waiting between them included. */
  firstTextMs: number;
  /** Between two reads from the provider. */
  silenceMs: number;
  totalMs: number;
  /** From the `finish_reason` to the end: usage is worth waiting for, but the reply is there. */
  finishMs: number;
}

export const replyDeadlines: ReplyDeadlines = {
  firstTextMs: 60_000,
  silenceMs: 60_000,
  totalMs: 600_000,
  finishMs: 5_000,
};

type Phase = "first-text" | "flowing" | "finishing" | "paused";

export class ReplyWatch {
  readonly #deadlines: ReplyDeadlines;
  readonly #onExpired: (failure: ProviderFailure) => void;
  readonly #startedMs = performance.now();
  #readMs = this.#startedMs;
  #phase: Phase = "first-text";
  #resumedPhase: Phase = "first-text";
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(deadlines: ReplyDeadlines, onExpired: (failure: ProviderFailure) => void) {
    this.#deadlines = deadlines;
    this.#onExpired = onExpired;
    this.#arm();
  }

  noteRead(): void {
    this.#readMs = performance.now();
  }

  noteText(): void {
    if (this.#phase === "first-text") this.#enter("flowing");
  }

  noteFinish(): void {
    if (this.#phase === "flowing") this.#enter("finishing");
  }

  /** While the visitor does not keep up, the provider's silence is ours. */
  pause(): void {
    this.#resumedPhase = this.#phase;
    this.#enter("paused");
  }

  resume(): void {
    this.noteRead();
    this.#enter(this.#resumedPhase);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #enter(phase: Phase): void {
    this.#phase = phase;
    this.#arm();
  }

  #arm(): void {
    clearTimeout(this.#timer);
    const { dueMs, reason } = this.#findDeadline();
    this.#timer = setTimeout(
      () => {
        // Reads move the deadline without touching the timer: it looks when it fires.
        if (this.#findDeadline().dueMs > performance.now()) this.#arm();
        else this.#onExpired(new ProviderFailure(reason));
      },
      Math.ceil(dueMs - performance.now()),
    );
  }

  #findDeadline(): { dueMs: number; reason: string } {
    const { firstTextMs, silenceMs, totalMs, finishMs } = this.#deadlines;
    const total = { dueMs: this.#startedMs + totalMs, reason: `no end after ${totalMs} ms` };
    if (this.#phase === "paused") return total;
    if (this.#phase === "first-text")
      return { dueMs: this.#startedMs + firstTextMs, reason: `no text after ${firstTextMs} ms` };
    const waitMs = this.#phase === "finishing" ? Math.min(finishMs, silenceMs) : silenceMs;
    const silence = { dueMs: this.#readMs + waitMs, reason: `silent for ${waitMs} ms` };
    return silence.dueMs < total.dueMs ? silence : total;
  }
}

/** Ends a reply from our side: when the visitor leaves, or at a deadline. One timer, which no read touches. */
import type { ReplyDeadlines } from "../../contracts/llm/attempt.ts";
import { ProviderFailure } from "../../contracts/llm/provider-failure.ts";
import { type Clock, systemClock } from "../../lib/clock.ts";
import { type After, afterTimeout } from "../../lib/spaced-queue.ts";
import type { StopSignal } from "../../lib/stop-signal.ts";

/** What passes while a reply is watched; replaced in tests. */
export interface ReplyTime {
  clock: Pick<Clock, "monotonicMs">;
  after: After;
}

const realTime: ReplyTime = { clock: systemClock, after: afterTimeout };

/** What goes on for a reply: the opening of its body, the reading of it, or a pause between two calls. */
export interface WatchedStep {
  stop(): void;
}

type Phase = "first-text" | "flowing" | "finishing" | "paused";

export class ReplyWatch {
  hasLeft = false;
  /** The deadline that has passed. */
  expired: ProviderFailure | null = null;
  /** The current step, which is ended when either happens. The steps take turns in setting it. */
  step: WatchedStep | null = null;

  readonly #deadlines: ReplyDeadlines;
  readonly #visitor: StopSignal;
  readonly #time: ReplyTime;
  readonly #startedMs: number;
  #readMs: number;
  #phase: Phase = "first-text";
  #hasReasoned = false;
  #resumedPhase: Phase = "first-text";
  /** When the timer fires; infinite while there is none. */
  #armedMs = Number.POSITIVE_INFINITY;
  #timer: Disposable | null = null;

  constructor(deadlines: ReplyDeadlines, visitor: StopSignal, time = realTime) {
    this.#deadlines = deadlines;
    this.#visitor = visitor;
    this.#time = time;
    this.#startedMs = time.clock.monotonicMs();
    this.#readMs = this.#startedMs;
    if (visitor.aborted) this.hasLeft = true;
    else {
      visitor.addEventListener("abort", this);
      this.#arm();
    }
  }

  get isOver(): boolean {
    return this.hasLeft || this.expired !== null;
  }

  /** The visitor's signal has fired. */
  handleEvent(): void {
    this.hasLeft = true;
    this.#end();
  }

  noteRead(): void {
    this.#readMs = this.#time.clock.monotonicMs();
  }

  noteText(): void {
    if (this.#phase === "first-text") this.#enter("flowing");
  }

  /** Thoughts are no text, but they show that some may come; while they last, silence is no sign of anything. */
  noteReasoning(): void {
    if (this.#hasReasoned) return;
    this.#hasReasoned = true;
    if (this.#phase === "first-text") this.#arm();
  }

  noteFinish(): void {
    if (this.#phase === "flowing") this.#enter("finishing");
  }

  /** While the visitor does not keep up, the provider's silence is our own doing. */
  pause(): void {
    this.#resumedPhase = this.#phase;
    this.#enter("paused");
  }

  resume(): void {
    this.noteRead();
    this.#enter(this.#resumedPhase);
  }

  /** Resolves after the time, or as soon as the reply is over. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#time.after(ms, resolve);
      this.step = {
        stop() {
          timer[Symbol.dispose]();
          resolve();
        },
      };
    });
  }

  /** The reply has ended normally. */
  stop(): void {
    this.#disarm();
    this.#visitor.removeEventListener("abort", this);
    this.step = null;
  }

  #end(): void {
    const { step } = this;
    this.stop();
    step?.stop();
  }

  #enter(phase: Phase): void {
    this.#phase = phase;
    this.#arm();
  }

  /** Reads, and most phases, move the deadline further away without touching the timer: it checks when it fires. */
  #arm(): void {
    const { dueMs } = this.#findDeadline();
    if (dueMs >= this.#armedMs) return;
    this.#disarm();
    this.#armedMs = dueMs;
    this.#timer = this.#time.after(Math.ceil(dueMs - this.#time.clock.monotonicMs()), () => this.#check());
  }

  #disarm(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = null;
  }

  #check(): void {
    this.#armedMs = Number.POSITIVE_INFINITY;
    const { dueMs, reason, ms } = this.#findDeadline();
    if (dueMs > this.#time.clock.monotonicMs()) this.#arm();
    else {
      this.expired = new ProviderFailure(`${reason} ${ms} ms`, { kind: "timed_out" });
      this.#end();
    }
  }

  #findDeadline(): { dueMs: number; reason: string; ms: number } {
    const { silenceMs, totalMs, finishMs } = this.#deadlines;
    const total = { dueMs: this.#startedMs + totalMs, reason: "no end after", ms: totalMs };
    if (this.#phase === "paused") return total;
    if (this.#phase === "first-text") {
      const ms = this.#hasReasoned ? this.#deadlines.reasoningMs : this.#deadlines.firstTextMs;
      return { dueMs: this.#startedMs + ms, reason: "no text after", ms };
    }
    const ms = this.#phase === "finishing" ? Math.min(finishMs, silenceMs) : silenceMs;
    const silence = { dueMs: this.#readMs + ms, reason: "silent for", ms };
    return silence.dueMs < total.dueMs ? silence : total;
  }
}

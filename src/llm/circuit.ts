/** Lets a provider that keeps failing be passed over for a while, until one call finds out whether it is back. */

/** So many failures within `windowMs` open the circuit for `openMs`. */
export const circuitLimits = { failures: 5, windowMs: 30_000, openMs: 30_000 };

/** Times are monotonic milliseconds, given by the caller; nothing here keeps a timer. */
export class Circuit {
  /** Of the last failures, oldest first; none while open. */
  #failedAtMs: number[] = [];
  #openUntilMs: number | null = null;
  #isOnTrial = false;

  /** Whether others should be asked instead: it is open, or another call is just finding out. */
  isPassedOver(nowMs: number): boolean {
    return this.#openUntilMs !== null && (nowMs < this.#openUntilMs || this.#isOnTrial);
  }

  /** Every call ends with `end`, whatever else it tells. */
  begin(nowMs: number): CircuitCall {
    const isTrial = this.#openUntilMs !== null && nowMs >= this.#openUntilMs && !this.#isOnTrial;
    if (isTrial) this.#isOnTrial = true;
    return new CircuitCall(this, isTrial);
  }

  /** Only what the trial says counts while it is open: other calls may have begun long before. */
  note(hasAnswered: boolean, isTrial: boolean, nowMs: number): "opened" | null {
    if (this.#openUntilMs !== null && !isTrial) return null;
    if (hasAnswered) {
      this.#openUntilMs = null;
      return null;
    }
    const { failures, windowMs, openMs } = circuitLimits;
    this.#failedAtMs = [...this.#failedAtMs.filter((atMs) => nowMs - atMs < windowMs), nowMs];
    if (!isTrial && this.#failedAtMs.length < failures) return null;
    this.#failedAtMs = [];
    this.#openUntilMs = nowMs + openMs;
    return "opened";
  }

  endTrial(): void {
    this.#isOnTrial = false;
  }
}

class CircuitCall {
  readonly #circuit: Circuit;
  readonly #isTrial: boolean;
  #hasEnded = false;

  constructor(circuit: Circuit, isTrial: boolean) {
    this.#circuit = circuit;
    this.#isTrial = isTrial;
  }

  /** With the first text: what follows may take minutes. */
  noteAnswer(nowMs: number): void {
    this.#circuit.note(true, this.#isTrial, nowMs);
    this.end();
  }

  /** Tells if the circuit is open from now on. */
  noteFailure(nowMs: number): "opened" | null {
    return this.#circuit.note(false, this.#isTrial, nowMs);
  }

  /** May be called again. A trial that has told neither, because the visitor left, is left to the next call. */
  end(): void {
    // By then another call may be on trial.
    if (this.#isTrial && !this.#hasEnded) this.#circuit.endTrial();
    this.#hasEnded = true;
  }
}

/** Lets a provider that keeps failing be passed over for a while, until one call finds out whether it is back. */

/** So many failures within `windowMs` open the circuit for `openMs`. */
export const circuitLimits = { failures: 5, windowMs: 30_000, openMs: 30_000 };

/**
 * Times are monotonic milliseconds, given by the caller; nothing here keeps a timer. `account` is whose companion asks:
 * what one account alone runs into may be its own doing, such as instructions that leave every reply empty.
 */
export class Circuit {
  /** The last failures, oldest first; none while open. */
  #failures: { readonly atMs: number; readonly account: string }[] = [];
  #openUntilMs: number | null = null;
  /** The one account whose failures opened it; null if several have failed. */
  #openedBy: string | null = null;
  #isOnTrial = false;
  #answeredAccount: string | null = null;
  #answeredMs = Number.NEGATIVE_INFINITY;
  /** The last answer to another account than that. */
  #answeredOtherMs = Number.NEGATIVE_INFINITY;

  /** Whether others should be asked instead: it is open, or another call is just finding out. Null: for some account. */
  isPassedOver(nowMs: number, account: string | null): boolean {
    return this.#openUntilMs !== null && (this.#isOnTrial || !this.#mayTry(nowMs, account));
  }

  /** Every call ends with `end`, whatever else it reports. */
  begin(nowMs: number, account: string): CircuitCall {
    const isTrial = this.#openUntilMs !== null && !this.#isOnTrial && this.#mayTry(nowMs, account);
    if (isTrial) this.#isOnTrial = true;
    return new CircuitCall(this, account, isTrial);
  }

  /** Only the trial's result counts while it is open: other calls may have begun long before. */
  noteAnswer({ account, isTrial }: CircuitCall, nowMs: number): void {
    if (this.#openUntilMs !== null && !isTrial) return;
    this.#openUntilMs = null;
    if (this.#answeredAccount !== account) this.#answeredOtherMs = this.#answeredMs;
    this.#answeredAccount = account;
    this.#answeredMs = nowMs;
  }

  /** As `noteAnswer`. Returns whether it is open from now on. */
  noteFailure({ account, isTrial }: CircuitCall, nowMs: number): "opened" | null {
    if (this.#openUntilMs !== null) {
      if (!isTrial) return null;
      // The pause is over, or this is the second account that has failed.
      this.#open(nowMs, this.#openUntilMs <= nowMs || this.#openedBy === account ? account : null);
      return "opened";
    }
    const { failures, windowMs } = circuitLimits;
    const recent = this.#failures.filter(({ atMs }) => nowMs - atMs < windowMs);
    this.#failures = [...recent, { atMs: nowMs, account }].slice(-failures);
    if (this.#failures.length < failures) return null;
    const isOneAlone = this.#failures.every((failure) => failure.account === account);
    const othersAnsweredMs = this.#answeredAccount === account ? this.#answeredOtherMs : this.#answeredMs;
    if (isOneAlone && nowMs - othersAnsweredMs < windowMs) return null;
    this.#open(nowMs, isOneAlone ? account : null);
    return "opened";
  }

  endTrial(): void {
    this.#isOnTrial = false;
  }

  #open(nowMs: number, account: string | null): void {
    this.#failures = [];
    this.#openUntilMs = nowMs + circuitLimits.openMs;
    this.#openedBy = account;
  }

  #mayTry(nowMs: number, account: string | null): boolean {
    if (this.#openUntilMs === null || nowMs >= this.#openUntilMs) return true;
    return account !== null && this.#openedBy !== null && this.#openedBy !== account;
  }
}

class CircuitCall {
  readonly account: string;
  readonly isTrial: boolean;
  readonly #circuit: Circuit;
  #hasEnded = false;

  constructor(circuit: Circuit, account: string, isTrial: boolean) {
    this.#circuit = circuit;
    this.account = account;
    this.isTrial = isTrial;
  }

  /** With the first text: what follows may take minutes. */
  noteAnswer(nowMs: number): void {
    this.#circuit.noteAnswer(this, nowMs);
    this.end();
  }

  noteFailure(nowMs: number): "opened" | null {
    return this.#circuit.noteFailure(this, nowMs);
  }

  /** May be called again. A trial that has reported neither, because the visitor left, is left to the next call. */
  end(): void {
    // By then another call may be on trial.
    if (this.isTrial && !this.#hasEnded) this.#circuit.endTrial();
    this.#hasEnded = true;
  }
}

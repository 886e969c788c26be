/** One reply from its request to its end: what it took, given back in one place, and what ends it from our side. */
import type { AppError } from "../domain/errors.ts";
import type { StreamErrorCode } from "../domain/stream-end.ts";

/** What a reply was begun with, an embed token as a rule, which can be taken away while it runs. */
export interface ReplyRight {
  /** Whether it still opens the companion. */
  check(): Promise<boolean>;
  /** What whoever asks without it is told. */
  refusal(): AppError;
}

/** Why a reply was ended by us. */
export interface ReplyEnding {
  /** For the last comment of its stream. */
  readonly code: StreamErrorCode;
  /** The answer to a request whose stream was not open yet; its sentence is for the log otherwise. */
  readonly error: AppError;
}

export class OpenReply {
  /** Null while nothing but its visitor and the provider may end it. */
  ending: ReplyEnding | null = null;
  /** Of the store, when its right was last found to hold. */
  checkedMark = -1;
  readonly #visitor: AbortSignal;
  readonly #right: ReplyRight;
  readonly #controller = new AbortController();
  readonly #debts: (() => void)[] = [];

  /** `visitor` fires when the visitor has gone. */
  constructor(visitor: AbortSignal, right: ReplyRight) {
    this.#visitor = visitor;
    this.#right = right;
    if (visitor.aborted) this.handleEvent();
    else visitor.addEventListener("abort", this, { once: true });
  }

  /** Fires once: the visitor has gone, or the reply was ended. What still runs for it is to stop. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The visitor's signal has fired. */
  handleEvent(): void {
    this.#controller.abort(this.#visitor.reason);
  }

  /** Ends the reply, unless it is over; the first reason stays. */
  end(code: StreamErrorCode, error: AppError): void {
    if (this.#controller.signal.aborted) return;
    this.ending = { code, error };
    this.#controller.abort(error);
  }

  /** False, and the reply ends, where it has lost its right to go on. Rejects where the store cannot be asked. */
  async check(): Promise<boolean> {
    if (await this.#right.check()) return true;
    this.end("unavailable", this.#right.refusal());
    return false;
  }

  /** Called by `close`, in the reverse order. */
  owes(giveBack: () => void): void {
    this.#debts.push(giveBack);
  }

  /** Gives everything back; further calls do nothing. */
  close(): void {
    this.#visitor.removeEventListener("abort", this);
    for (let giveBack = this.#debts.pop(); giveBack !== undefined; giveBack = this.#debts.pop()) giveBack();
  }
}

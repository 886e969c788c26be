/** What an account's people try by hand at other servers: a few at a time, since each may take many seconds. */
import { AppError } from "../domain/errors.ts";

const maxAtOnce = 4;

export class AttemptsByHand {
  readonly #running = new Map<string, number>();

  /** Rejects with `rate_limited` if the account has too many under way, and as the attempt does. */
  async run<Result>(accountId: string, attempt: () => Promise<Result>): Promise<Result> {
    const others = this.#running.get(accountId) ?? 0;
    if (others >= maxAtOnce) {
      const sentence = `${maxAtOnce} attempts are under way. Wait for one of them.`;
      throw new AppError("rate_limited", sentence, { retryAfterSeconds: 1 });
    }
    this.#running.set(accountId, others + 1);
    try {
      return await attempt();
    } finally {
      const left = (this.#running.get(accountId) ?? 1) - 1;
      if (left === 0) this.#running.delete(accountId);
      else this.#running.set(accountId, left);
    }
  }
}

/** The delivery of events, as the rest of the program knows it. */
import type { DueDelivery, SealedWebhook } from "../../contracts/store/store.ts";

/** How an attempt ended: it has arrived if there is no problem. */
export interface Attempt {
  readonly status: number | null;
  /** A public sentence. */
  readonly problem: string | null;
  readonly durationMs: number;
}

export interface EventDelivery {
  /** Something may be due. Returns immediately. */
  wake(): void;
  /** One attempt, beside the schedule. Rejects with `rate_limited` if the account has too many under way, and as the store does. */
  send(of: Omit<DueDelivery, "attempts">): Promise<Attempt>;
  /** The same with an event of its own, which is not stored. */
  test(accountId: string, webhook: SealedWebhook): Promise<Attempt>;
  /** Resolves when nothing is due and nothing under way. For tests. */
  whenIdle(): Promise<void>;
  /** Lets attempts under way end, or calls them off, and resolves then. */
  close(): Promise<void>;
}
